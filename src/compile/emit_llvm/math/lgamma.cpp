// log |Gamma(x)|. With |x| below 5/2 the recurrence (DLMF 5.5.1) leads to 2 + f, |f| <= 1/2, where the function is f
// P(f) to full relative accuracy; above, Stirling's formula with its correction (5.11.1) as a polynomial in 1 / x^2;
// below -1/2 the reflection formula (5.5.3). Near the zeros at negative x only the absolute error is small, in units of
// lgamma(|x|).
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

V sin_pi(V x, V& cosine) {
  x = fma(trunc(x * 0.5), -2.0, x);  // exact, as is the distance to the nearest multiple of 1/2
  const Rounded n = round_scaled(x, 2.0);
  const V d = fma(n.real, -0.5, x);
  const V r = d * 3.141592653589793;
  const TrigParts t{r, fma(d, 1.2246467991473532e-16, fma(d, number(d, 3.141592653589793), -r)), n.bits};
  const V s = sin_kernel(t), c = cos_kernel(t);
  const V odd = ne(bits_and(t.q, 1), number(t.q, 0));
  const V upper = shl(bits_and(t.q, 2), 62), left = shl(bits_and(t.q + 1, 2), 62);
  cosine = as_float(as_bits(select(odd, s, c)) ^ left);
  return as_float(as_bits(select(odd, c, s)) ^ upper);
}

namespace {

/// x below 0 only in (-1/2, 0). Infinite at 0, of either sign.
V lgamma_right(V x) {
  const V tiny = lt(x, 0.5), low = lt(x, 1.5), near = lt(x, 2.5);
  // lgamma(x) = lgamma(x + 2) - log(x (x + 1)) = lgamma(x + 1) - log(x)
  const V f = select(tiny, x, select(low, x - 1.0, x - 2.0));
  const V p =
      polynomial(f, {0.42278433509846713, 0.3224670334241132, -0.067352301053195632, 0.020580808427783381,
                     -0.0073855510289355447, 0.0028905103308659009, -0.0011927539009983087, 0.00050966951965266728,
                     -0.00022315497746292723, 9.945761692157133e-05, -4.4923727564247656e-05, 2.0506019701747618e-05,
                     -9.4562885151017197e-06, 4.3828545383846665e-06, -1.9743106888421067e-06, 9.2428522251622768e-07,
                     -5.8112777689212464e-07, 2.7475390051909663e-07});
  const V l = log(select(tiny, abs(fma(x, x, x)), x));
  const V close = select(low, fma(f, p, -l), f * p);
  // (x - 1/2) (log x - 1) + (log(2 pi) - 1) / 2 + correction(1 / x^2) / x
  const V inverse = 1.0 / x, w = inverse * inverse;
  const V q = polynomial(select(near, 0.0, w),
                         {0.083333333333333329, -0.0027777777777756398, 0.00079365079263483756, -0.00059523790172816564,
                          0.00084173119105415966, -0.0019162977797615398, 0.0063585250467158346, -0.027991038553284959,
                          0.14414778463955505, -0.74834714202446906, 3.4246714775641687, -12.40213407072066,
                          32.137057787033434, -52.042531573768962, 39.20440789449971});
  const V large = fma(x - 0.5, l - 1.0, fma(q, inverse, 0.4189385332046727));
  return select(near, close, select(eq(x, infinity()), x, large));
}

}  // namespace

V lgamma(V x) {
  if (!is_f64(x)) return to_f32(lgamma(to_f64(x)));
  const V reflected = le(x, -0.5), size = select(reflected, -x, x);
  const V right = lgamma_right(size);
  return x.ir->if_then(any(reflected), right, [&] {
    // log(pi / |x sin(pi x)|) - lgamma(-x)
    V cosine;
    const V sine = sin_pi(size, cosine);
    const V y = log(3.141592653589793 / abs(size * sine)) - right;
    return select(reflected, select(eq(sine, 0.0) | eq(size, infinity()), infinity(), y), right);
  });
}

}  // namespace rlx::emit_llvm::math
