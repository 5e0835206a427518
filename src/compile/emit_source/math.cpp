// Elementary and special functions of real arguments: the language's own, whose accuracy is for the dialect to judge.
// What languages lack, or have only to an absolute error, is computed in f64.
#include "compile/emit_source/common.hpp"

namespace rlx::emit_source {
namespace {

constexpr DTypeSet single{DType::f16, DType::bf16, DType::f32};

constexpr Spelling math[] = {
    {"exp", floating, "exp({0})"},
    {"log", floating, "log({0})"},
    {"expm1", floating, "expm1({0})"},
    {"log1p", floating, "log1p({0})"},
    {"sqrt", floating, "sqrt({0})"},
    {"rsqrt", floating, "1 / sqrt({0})"},
    {"cbrt", floating, "cbrt({0})"},
    {"sin", floating, "sin({0})"},
    {"cos", floating, "cos({0})"},
    {"tan", floating, "tan({0})"},
    {"asin", floating, "asin({0})"},
    {"acos", floating, "acos({0})"},
    {"atan", floating, "atan({0})"},
    {"sinh", floating, "sinh({0})"},
    {"cosh", floating, "cosh({0})"},
    {"tanh", floating, "tanh({0})"},
    {"erf", floating, "erf({0})"},
    {"erfc", floating, "erfc({0})"},
    {"lgamma", single, "(f32)rlx_lgamma((f64){0})"},
    {"lgamma", f64_set, "rlx_lgamma({0})"},
    {"erfinv", single, "(f32)rlx_erfinv((f64){0})"},
    {"erfinv", f64_set, "rlx_erfinv({0})"},
    {"digamma", single, "(f32)rlx_digamma((f64){0})"},
    {"digamma", f64_set, "rlx_digamma({0})"},
    {"pow", floating, "pow({0}, {1})"},
    {"atan2", floating, "atan2({0}, {1})"},
};

constexpr Helper math_functions[] = {
    // Winitzki's closed form ("A handy approximation for the error function and its inverse", 2008; 2e-3 relative),
    // then
    // three steps of Halley's method on erf (or erfc in the tail, where erf has no digits left). erf'' / erf' = -2 y.
    {"rlx_erfinv", {}, R"(f64 rlx_erfinv(f64 x) {
  const f64 a = fabs(x);
  if (!(a < 1.0)) return a == 1.0 ? x * INFINITY : (f64)NAN;
  if (a < 1e-9) return x * 0.88622692545275801;
  const f64 l = a < 0.5 ? log1p(-a * a) : log((1.0 - a) * (1.0 + a));
  const f64 t = 4.3307467508 + 0.5 * l, q = -l / 0.147;
  f64 y = sqrt(q / (sqrt(t * t + q) + t));
  for (i32 k = 0; k < 3; ++k) {
    const f64 f = a < 0.5 ? erf(y) - a : (1.0 - a) - erfc(y);
    const f64 u = f * 0.88622692545275801 * exp(y * y);
    y -= u / (1.0 + y * u);
  }
  return copysign(y, x);
})"},
    // Library functions reflect negative arguments, which loses the digits near the zeros. There the recurrence
    // gamma(x) = gamma(x + n) / (x (x + 1) ... (x + n - 1)) leads to [1, 2).
    {"rlx_lgamma", {}, R"(f64 rlx_lgamma(f64 x) {
  if (!(x > -8.0 && x < 0.0) || x == rint(x)) return lgamma(x);
  f64 product = 1.0;
  for (; x < 1.0; x += 1.0) product *= x;
  return lgamma(x) - log(fabs(product));
})"},
    // DLMF 5.5.4 (reflection; the cotangent from the nearer of its zero and its pole), 5.5.2 (recurrence up to 10,
    // smallest
    // terms first), 5.11.2 (asymptotic series, next term below 1e-16). About the positive zero, which is held in two
    // parts,
    // the Taylor series with psi^(n) / n!, so that relative accuracy survives there.
    {"rlx_digamma", {}, R"(f64 rlx_digamma(f64 x) {
  if (x == 0.0) return copysign((f64)INFINITY, -x);
  if (isinf(x)) return x > 0 ? x : (f64)NAN;
  f64 r = 0.0;
  if (x < 0.0) {
    const f64 f = x - rint(x), pi = 3.1415926535897931;
    if (f == 0.0) return NAN;
    r = fabs(f) > 0.25 ? -pi * copysign(tan(pi * (0.5 - fabs(f))), f) : -pi / tan(pi * f);
    x = 1.0 - x;
  }
  const f64 d = (x - 0x1.762d86356be3fp+0) - 9.5499954299656977e-17;
  if (fabs(d) < 0.0625)
    return r + d * (0.96767224544762117 + d * (-0.44276316898359211 + d * (0.25849976095565101 + d * (-0.16394270544240653 +
           d * (0.10782405069126237 + d * (-0.072199561256454711 + d * (0.048804288164143107 + d * (-0.033161126474847359 +
           d * (0.022597648232218105 + d * (-0.015424765904948959 + d * 0.010538791616612175))))))))));
  const f64 n = x < 10.0 ? ceil(10.0 - x) : 0.0, y = x + n, z = 1.0 / (y * y);
  f64 s = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12)))))));
  s += 0.5 / y;
  for (f64 k = n - 1.0; k >= 0.0; k -= 1.0) s += 1.0 / (x + k);
  return r + (log(y) - s);
})"},
};

}  // namespace

constinit const std::span<const Spelling> math_spellings = math;
constinit const std::span<const Helper> math_helpers = math_functions;

}  // namespace rlx::emit_source
