// The derivative of lgamma. On [1, 2] (x - x0) P(x) about the zero x0, so that the result keeps all digits there;
// beyond, the asymptotic series (DLMF 5.11.2) as a polynomial in 1 / x^2; below 1 the recurrence (5.5.2), below 0 the
// reflection (5.5.4). Near the zeros at negative x only the absolute error is small.
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

V digamma(V x) {
  if (!is_f64(x)) return to_f32(digamma(to_f64(x)));
  const V reflected = lt(x, 0.0), low = lt(x, 1.0);
  const V y = select(reflected, 1.0 - x, select(low, x + 1.0, x));  // at least 1
  const V near = le(y, 2.0);
  const V p = polynomial(
      y - 1.5, {0.95105587603183295,    -0.42362742128146053,    0.24054248424077421,   -0.14840492305390884,
                0.09498872445494122,    -0.061922133273064534,   0.040760833812420738,  -0.026975796756138249,
                0.0179072524394512,     -0.011908218001568644,   0.0079269446463037968, -0.0052799648732574046,
                0.0035190064015022762,  -0.0023452676325407692,  0.0015566317474486838, -0.0010376374098418604,
                0.00072332662792875537, -0.00048219905305667889, 0.0002272331660987376, -0.00015148586836773365,
                0.00025968482126430747, -0.00017312261802727394});
  const V close = ((y - 0x1.762d86356be3fp+0) - 9.5499954299656974e-17) * p;
  const V inverse = 1.0 / y, w = select(near, 0.0, inverse * inverse);
  const V q =
      polynomial(w, {0.083333333333333329,  -0.0083333333333309566, 0.0039682539668335097, -0.0041666663240125775,
                     0.0075757130300471371, -0.021089176833392918,  0.083131912265922633,  -0.4350692464990813,
                     2.797734002451473,     -19.992013881796513,    143.17449169911444,    -946.73510340308746,
                     5465.4190589925793,    -26528.587903155931,    105254.08341608084,    -332607.8181127517,
                     812734.35001536948,    -1475230.0740133708,    1868173.4441409598,    -1470573.7807954231,
                     541068.27695737942});
  const V right = select(near, close, log(y) - fma(w, q, inverse * 0.5));
  const V shifted = select(low, right - 1.0 / x, right);
  return x.ir->if_then(any(reflected), shifted, [&] {
    V cosine;
    const V sine = sin_pi(x, cosine);
    const V z = right - cosine * 3.141592653589793 / sine;
    const V pole = eq(sine, 0.0) | eq(x, -infinity());
    return select(reflected, select(pole, quiet_nan(), z), shifted);
  });
}

}  // namespace rlx::emit_llvm::math
