// pow(x, y) = exp(y log x) with the logarithm in more than twice the bits that the result keeps: for f32 in f64, for
// f64 as a sum of two f64 by error-free transformations (Dekker 1971, with fma).
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

namespace {

Pair two_sum(V a, V b) {
  const V s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
Pair two_product(V a, V b) {
  const V p = a * b;
  return {p, fma(a, b, -p)};
}

/// log of positive finite x as a pair, relative error about 2^-65.
Pair log_pair(V x) {
  const LogParts p = log_parts(x);
  const V f = p.f;
  const V d = f + 2.0, d_low = f - (d - 2.0);
  const V s = f / d;
  const V s_low = (fma(-s, d, f) - s * d_low) / d;
  // log(1 + f) = 2 s + 2/3 s^3 + s^5 P(s^2)
  Pair z = two_product(s, s);
  z.low = fma(s * 2.0, s_low, z.low);
  Pair c = two_product(s, z.high);
  c.low = c.low + fma(s, z.low, s_low * z.high);
  Pair d3 = two_product(c.high, number(s, 0.6666666666666666));
  d3.low = d3.low + fma(c.high, 3.700743415417188e-17, c.low * 0.6666666666666666);
  const V tail = c.high * z.high *
                 polynomial(z.high, {0.40000000000002284, 0.2857142857008378, 0.22222222522927226, 0.1818178409043046,
                                     0.15386770634137464, 0.13256496402996124, 0.13199408465171703});
  const Pair e = two_product(p.e, number(s, ln2(s).high));
  const Pair a = two_sum(e.high, s * 2.0);
  const Pair b = two_sum(a.high, d3.high);
  const V low = a.low + b.low + (fma(p.e, ln2(s).low, e.low) + (s_low * 2.0 + (d3.low + tail)));
  const V high = b.high + low;
  return {high, low - (high - b.high)};
}

/// |x|^y for f64, x not 0 and finite.
V power_f64(V x, V y) {
  const Pair l = log_pair(x);
  const V high = y * l.high;
  const V low = fma(y, l.high, -high) + y * l.low;
  // Where the result over- or underflows the low part means nothing and may be NaN.
  const V inside = lt(abs(high), 800.0);
  const ExpParts e = exp_parts(high, select(inside, low, 0.0));
  return scale(e.p, e.n);
}

V power_f32(V x, V y) {
  const LogParts p = log_parts(to_f64(x));
  const V s = p.f / (p.f + 2.0), z = s * s;
  const V log2 = fma(s,
                     polynomial(z, {2.8853900817778486, 0.9617966941160022, 0.5770779415528456, 0.41220933809112853,
                                    0.31990204053749144, 0.2829543023848633}),
                     p.e);
  V t = to_f64(y) * log2;
  t = select(lt(t, -300.0), -300.0, t);
  t = select(gt(t, 300.0), 300.0, t);
  const Rounded n = round_small(t);
  const V f = t - n.real;
  const V q = polynomial(f, {0.6931471805404281, 0.24022651099271944, 0.05550410967804237, 0.009618033160758275,
                             0.0013333426102036675, 0.00015468391201683957, 1.5316094187928846e-05});
  return to_f32(fma(f, q, 1.0) * power_of_two(n.bits));
}

}  // namespace

V pow(V x, V y) {
  const V size = abs(x);
  V r = is_f64(x) ? power_f64(size, y) : power_f32(size, y);
  const V rising = gt(y, 0.0);
  r = select(eq(size, 0.0), select(rising, number(x, 0.0), infinity()), r);
  r = select(eq(size, infinity()), select(rising, number(x, infinity()), 0.0), r);
  r = select(eq(size, 1.0), 1.0, r);
  const V half = y * 0.5;
  const V whole = eq(trunc(y), y), odd = whole & ne(trunc(half), half);
  const V negative = lt(as_bits(x), 0.0);
  r = select(negative & odd, -r, r);
  r = select(lt(x, 0.0) & ~whole & ~eq(size, infinity()), quiet_nan(), r);
  r = select(is_nan(x) | is_nan(y), x + y, r);
  return select(eq(y, 0.0) | eq(x, 1.0), 1.0, r);
}

}  // namespace rlx::emit_llvm::math
