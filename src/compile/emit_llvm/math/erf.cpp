// erf near zero is odd; elsewhere through exp(x^2) erfc(x), whose product with 1 + 2x is a polynomial in (x - 4) / (x +
// 4) on the whole half line (Shepherd and Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x, Math. Comp.
// 36, 1981).
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

namespace {
/// With the polynomial for f32 if `coarse`, whatever the type.
V erfc_quotient(V x, bool coarse) {
  const double k = coarse ? 3.0 : 4.0;
  const V t = (x - k) / (x + k);
  const V p =
      !coarse
          ? polynomial(
                t, {1.2329951186255526,     -0.13962111684056297,    0.015379652102618506,    0.06809705425474406,
                    -0.10103906603622854,   0.09373283499661231,     -0.0663303658142051,     0.03716751556434334,
                    -0.016197734029491033,  0.005031969750473673,    -0.0007577735303341269,  -0.00019925554387984377,
                    0.00015062297449702444, -2.4402808260622627e-05, -1.1226508882859966e-05, 5.716572617019275e-06,
                    3.036855417306576e-07,  -8.326795469290659e-07,  6.121012103019195e-08,   1.1293313503168727e-07,
                    -7.691374772158895e-09, -1.271082584566902e-08,  -1.4989651237437322e-09})
          : polynomial(t, {1.25300813, -0.135621056, -0.047563564, 0.129643515, -0.119257078, 0.0683247, -0.0238464288,
                           0.00245432509, 0.00203066785, -0.000625850458, -0.000196023539});
  return p / fma(x, 2.0, 1.0);
}

/// x P(x^2) for |x| <= 1.
V erf_small(V x) {
  const V z = x * x;
  const V p =
      is_f64(x)
          ? polynomial(z, {0.1283791670955126, -0.37612638903183754, 0.1128379167095512, -0.026866170645129868,
                           0.005223977625423611, -0.0008548327021956025, 0.000120553329038126, -1.4925647594497853e-05,
                           1.646204598055763e-06, -1.636464955146516e-07, 1.479246964452013e-08, -1.216496861716556e-09,
                           8.710465336650472e-11, -4.23312952867958e-12})
          : polynomial(z, {0.128379166, -0.376126379, 0.112837829, -0.0268654451, 0.00522107491, -0.000848471245,
                           0.000112705486, -9.68013683e-06});
  return fma(x, p, x);
}
/// erfc(x) for x >= 0; the square's rounding error is corrected for, the exponent applied last. Without `relative`,
/// only errors in units of 1 matter.
V erfc_positive(V x, bool relative) {
  const double far = is_f64(x) ? 28.0 : 11.0;
  x = select(gt(x, far), far, x);
  if (!is_f64(x) && !relative) {
    const ExpParts e = exp_parts(-(x * x));
    return scale(e.p * erfc_quotient(x, true), e.n);
  }
  if (!is_f64(x)) {
    // In f64, where the square is exact and only the polynomial counts.
    const V wide = to_f64(x);
    const ExpParts e = exp_parts(-(wide * wide));
    return to_f32(e.p * erfc_quotient(wide, true) * power_of_two(e.n.bits));
  }
  const V square = x * x, lost = fma(x, x, -square);
  const ExpParts e = exp_parts(-square, -lost);
  return scale(e.p * erfc_quotient(x, false), e.n);
}
}  // namespace

V erf(V x) {
  const V size = abs(x);
  return select(lt(size, 1.0), erf_small(x), copysign(1.0 - erfc_positive(size, false), x));
}
V erfc(V x) {
  const V size = abs(x), y = erfc_positive(size, true);
  const V far = select(lt(x, 0.0), 2.0 - y, y);
  return select(lt(size, 0.5), 1.0 - erf_small(x), far);
}

}  // namespace rlx::emit_llvm::math
