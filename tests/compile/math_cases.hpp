// The functions of one argument that are emitted, with what MPFR says of each and how far from it they may be.
#pragma once
#include <mpfr.h>

#include <cmath>

namespace rlx::testing_kernels {
namespace {

using MpfrUnary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

struct MathCase {
  const char* op;
  MpfrUnary exact;
  double low, high;  ///< Uniform samples come from here, half of all; the other half are random bits.
  double f32_ulp, f64_ulp;
  MpfrUnary unit = nullptr;  ///< Errors count in units of this where it is larger than the result, as near some zeros.
};

// As IEEE 754 has it, and MPFR has not: 1 / sqrt(-0) is -infinity.
int inverse_sqrt(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t r) {
  if (!mpfr_zero_p(x)) return mpfr_rec_sqrt(y, x, r);
  mpfr_set_inf(y, mpfr_signbit(x) ? -1 : 1);
  return 0;
}

// Newton's iteration, in double and then twice Halley's, on erfc where erf is near 1.
int inverse_erf(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t round) {
  const double v = mpfr_get_d(x, MPFR_RNDN), a = std::fabs(v);
  if (!(a < 1) || a == 0) return mpfr_set_d(r, a == 0 ? v : a == 1 ? std::copysign(INFINITY, v) : NAN, round);
  const bool outer = a > 0.5;
  double y = outer ? std::sqrt(-std::log1p(-a)) : a * 0.886;
  for (int i = 0; i < 60; ++i) {
    const double slope = 1.1283791670955126 * std::exp(-y * y);
    y += outer ? (std::log(std::erfc(y)) - std::log1p(-a)) * std::erfc(y) / slope : (a - std::erf(y)) / slope;
  }
  mpfr_t z, miss, slope;
  mpfr_inits2(200, z, miss, slope, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_d(z, y, MPFR_RNDN);
  for (int i = 0; i < 3; ++i) {
    if (outer) {
      mpfr_erfc(miss, z, MPFR_RNDN);
      mpfr_set_d(slope, a, MPFR_RNDN);
      mpfr_ui_sub(slope, 1, slope, MPFR_RNDN);
      mpfr_sub(miss, slope, miss, MPFR_RNDN);
    } else {
      mpfr_erf(miss, z, MPFR_RNDN);
      mpfr_sub_d(miss, miss, a, MPFR_RNDN);
    }
    mpfr_sqr(slope, z, MPFR_RNDN);
    mpfr_exp(slope, slope, MPFR_RNDN);  // divided by 2 / sqrt(pi) is 1 / erf'
    mpfr_mul(miss, miss, slope, MPFR_RNDN);
    mpfr_const_pi(slope, MPFR_RNDN);
    mpfr_sqrt(slope, slope, MPFR_RNDN);
    mpfr_mul(miss, miss, slope, MPFR_RNDN);
    mpfr_div_ui(miss, miss, 2, MPFR_RNDN);
    mpfr_mul(slope, z, miss, MPFR_RNDN);
    mpfr_add_ui(slope, slope, 1, MPFR_RNDN);
    mpfr_div(miss, miss, slope, MPFR_RNDN);
    mpfr_sub(z, z, miss, MPFR_RNDN);
  }
  mpfr_setsign(r, z, v < 0, round);
  mpfr_clears(z, miss, slope, static_cast<mpfr_ptr>(nullptr));
  return 0;
}
int log_gamma(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t r) {
  int sign;
  return mpfr_lgamma(y, &sign, x, r);
}
// As the operator has it at 0 and at -infinity.
int digamma(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t r) {
  if (mpfr_zero_p(x)) mpfr_set_inf(y, mpfr_signbit(x) ? 1 : -1);
  else if (mpfr_sgn(x) < 0 && mpfr_integer_p(x)) mpfr_set_nan(y);
  else return mpfr_digamma(y, x, r);
  return 0;
}
int at_least_one(mpfr_ptr y) {
  mpfr_abs(y, y, MPFR_RNDN);
  if (mpfr_cmp_ui(y, 1) < 0) mpfr_set_ui(y, 1, MPFR_RNDN);
  return 0;
}
/// What the reflection formulas of negative arguments subtract; 0 elsewhere.
int log_gamma_unit(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t r) {
  if (mpfr_cmp_d(x, -0.5) > 0) return mpfr_set_ui(y, 0, r);
  mpfr_neg(y, x, r);
  log_gamma(y, y, r);
  return at_least_one(y);
}
int digamma_unit(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t r) {
  if (mpfr_sgn(x) >= 0) return mpfr_set_ui(y, 0, r);
  mpfr_ui_sub(y, 1, x, r);
  digamma(y, y, r);
  return at_least_one(y);
}

const MathCase math_cases[] = {{"exp", mpfr_exp, -104, 90, 1.5, 1.5},
                               {"expm1", mpfr_expm1, -3, 3, 2, 2},
                               {"log", mpfr_log, 0, 4, 1.5, 1.5},
                               {"log1p", mpfr_log1p, -1, 2, 2, 2},
                               {"rsqrt", inverse_sqrt, 0, 10, 2, 2},
                               {"cbrt", mpfr_cbrt, -10, 10, 1.5, 1.5},
                               {"sin", mpfr_sin, -100, 100, 1.6, 1.5},
                               {"cos", mpfr_cos, -100, 100, 1.6, 1.5},
                               {"tan", mpfr_tan, -10, 10, 1, 4},
                               {"asin", mpfr_asin, -1, 1, 2, 4},
                               {"acos", mpfr_acos, -1, 1, 2, 4},
                               {"atan", mpfr_atan, -5, 5, 2, 2},
                               {"sinh", mpfr_sinh, -5, 5, 2.5, 4},
                               {"cosh", mpfr_cosh, -5, 5, 2.5, 4},
                               {"tanh", mpfr_tanh, -4, 4, 2, 4},
                               {"erf", mpfr_erf, -4, 4, 2, 4},
                               {"erfc", mpfr_erfc, -4, 12, 1.5, 4},
                               {"erfinv", inverse_erf, -1, 1, 4, 8},
                               {"lgamma", log_gamma, -12, 20, 4, 8, log_gamma_unit},
                               {"digamma", digamma, -12, 20, 4, 8, digamma_unit}};

}  // namespace
}  // namespace rlx::testing_kernels
