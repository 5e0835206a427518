// Complex arithmetic and functions, on pairs with the members x and y. The branch cuts are those of C99; signs of zeros
// are kept.
#include "compile/emit_source/common.hpp"

namespace rlx::emit_source {
namespace {

constexpr DTypeSet parts{DType::f32, DType::f64};

constexpr Spelling complex_table[] = {
    {"complex", parts, "make_{R}({0}, {1})"},
    {"real", complex_types, "{0}.x"},
    {"imag", complex_types, "{0}.y"},
    {"conj", complex_types, "make_{D}({0}.x, -{0}.y)"},
    {"real", floating, "{0}", floating, true},
    {"imag", floating, "0", floating, true},
    {"conj", floating, "{0}", floating, true},
    {"abs", complex_types, "hypot({0}.x, {0}.y)"},
    {"is_nan", complex_types, "(isnan({0}.x) || isnan({0}.y))"},
    {"is_finite", complex_types, "(isfinite({0}.x) && isfinite({0}.y))"},
    {"compare.eq", complex_types, "({0}.x == {1}.x && {0}.y == {1}.y)"},
    {"compare.ne", complex_types, "({0}.x != {1}.x || {0}.y != {1}.y)"},
    {"neg", complex_types, "-{0}", any_dtype, true, "complex_operators"},
    {"neg", complex_types, "make_{D}(-{0}.x, -{0}.y)", any_dtype, true},
    {"add", complex_types, "{0} + {1}", any_dtype, false, "complex_operators"},
    {"add", complex_types, "make_{D}({0}.x + {1}.x, {0}.y + {1}.y)"},
    {"sub", complex_types, "{0} - {1}", any_dtype, false, "complex_operators"},
    {"sub", complex_types, "make_{D}({0}.x - {1}.x, {0}.y - {1}.y)"},
    {"mul", complex_types, "rlx_mul_{D}({0}, {1})"},
    {"div", complex_types, "rlx_div_{D}({0}, {1})"},
    {"fma", complex_types, "rlx_mul_{D}({0}, {1}) + {2}", any_dtype, false, "complex_operators"},
    {"fma", complex_types, "rlx_fma_{D}({0}, {1}, {2})"},
    {"sign", complex_types, "rlx_sign_{D}({0})"},
    {"exp", complex_types, "rlx_exp_{D}({0})"},
    {"log", complex_types, "rlx_log_{D}({0})"},
    {"expm1", complex_types, "rlx_expm1_{D}({0})"},
    {"log1p", complex_types, "rlx_log1p_{D}({0})"},
    {"sqrt", complex_types, "rlx_sqrt_{D}({0})"},
    {"rsqrt", complex_types, "rlx_div_{D}(make_{D}(1, 0), rlx_sqrt_{D}({0}))"},
    {"pow", complex_types, "rlx_pow_{D}({0}, {1})"},
    {"sin", complex_types, "rlx_sin_{D}({0})"},
    {"cos", complex_types, "rlx_cosh_{D}(make_{D}(-{0}.y, {0}.x))"},
    {"tan", complex_types, "rlx_tan_{D}({0})"},
    {"sinh", complex_types, "rlx_sinh_{D}({0})"},
    {"cosh", complex_types, "rlx_cosh_{D}({0})"},
    {"tanh", complex_types, "rlx_tanh_{D}({0})"},
};

constexpr Helper complex_functions[] = {
    {"rlx_mul_{D}", complex_types,
     "{T} rlx_mul_{D}({T} a, {T} b) { return make_{D}(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }"},
    {"rlx_fma_{D}", complex_types, R"({T} rlx_fma_{D}({T} a, {T} b, {T} c) {
  return make_{D}(a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y);
})"},
    {"c64_bits", {}, "u64 c64_bits(c64 z) { return (u64)f32_bits(z.x) | (u64)f32_bits(z.y) << 32; }"},
    {"bits_c64", {}, "c64 bits_c64(u64 b) { return make_c64(bits_f32((u32)b), bits_f32((u32)(b >> 32))); }"},
    // The divisor is scaled to about 1 first, so that its square neither overflows nor vanishes. 0 as a divisor gives
    // the infinities of the real division, an infinite divisor gives 0.
    {"rlx_div_{D}", complex_types, R"({T} rlx_div_{D}({T} a, {T} b) {
  const {C} m = fmax(fabs(b.x), fabs(b.y));
  if (m == 0 && !isnan(b.x) && !isnan(b.y)) return make_{D}(copysign(({C})INFINITY, b.x) * a.x, copysign(({C})INFINITY, b.x) * a.y);
  if (isinf(m) && isfinite(a.x) && isfinite(a.y)) {
    const {C} u = isinf(b.x) ? copysign(({C})1, b.x) : copysign(({C})0, b.x), v = isinf(b.y) ? copysign(({C})1, b.y) : copysign(({C})0, b.y);
    return make_{D}(0 * (a.x * u + a.y * v), 0 * (a.y * u - a.x * v));
  }
  const i32 e = isfinite(m) ? -ilogb(m) : 0;
  const {C} x = ldexp(b.x, e), y = ldexp(b.y, e), d = x * x + y * y;
  return make_{D}(ldexp((a.x * x + a.y * y) / d, e), ldexp((a.y * x - a.x * y) / d, e));
})"},
    {"rlx_sign_{D}", complex_types, R"({T} rlx_sign_{D}({T} z) {
  const {C} r = hypot(z.x, z.y);
  return r == 0 ? z : isnan(z.x) || isnan(z.y) ? make_{D}(NAN, NAN) : make_{D}(z.x / r, z.y / r);
})"},
    // A zero imaginary part stays zero even where the real one is infinite.
    {"rlx_exp_{D}", complex_types, R"({T} rlx_exp_{D}({T} z) {
  const {C} e = exp(z.x);
  if (z.y == 0) return make_{D}(e, z.y);
  if (e == 0) return make_{D}(0, 0);
  if (isinf(e) && !isfinite(z.y)) return make_{D}(e, NAN);
  return make_{D}(e * cos(z.y), e * sin(z.y));
})"},
    // exp(x) cos(y) - 1 = expm1(x) cos(y) - 2 sin(y / 2)^2
    {"rlx_expm1_{D}", complex_types, R"({T} rlx_expm1_{D}({T} z) {
  if (z.y == 0) return make_{D}(expm1(z.x), z.y);
  const {C} s = sin(z.y / 2);
  return make_{D}(expm1(z.x) * cos(z.y) - 2 * s * s, exp(z.x) * sin(z.y));
})"},
    // log |z|; near |z| = 1 from |z|^2 - 1 = (a - 1) (a + 1) + b^2, where the logarithm of the modulus has no digits.
    {"rlx_log_abs_{D}", complex_types, R"({C} rlx_log_abs_{D}({C} x, {C} y) {
  if (isnan(x) || isnan(y)) return hypot(x, y);
  const {C} a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
  return a > ({C})0.5 && a < 2 && b < 2 ? log1p((a - 1) * (a + 1) + b * b) / 2 : log(hypot(a, b));
})"},
    {"rlx_log_{D}", complex_types,
     "{T} rlx_log_{D}({T} z) { return make_{D}(rlx_log_abs_{D}(z.x, z.y), atan2(z.y, z.x)); }"},
    // |1 + z|^2 - 1 = x (2 + x) + y^2
    {"rlx_log1p_{D}", complex_types, R"({T} rlx_log1p_{D}({T} z) {
  const {C} re = fabs(z.x) < ({C})0.5 && fabs(z.y) < 1 ? log1p(z.x * (2 + z.x) + z.y * z.y) / 2 : rlx_log_abs_{D}(1 + z.x, z.y);
  return make_{D}(re, atan2(z.y, 1 + z.x));
})"},
    // Both parts halved before they are added, against overflow; the smaller part comes from the larger by division.
    {"rlx_sqrt_{D}", complex_types, R"({T} rlx_sqrt_{D}({T} z) {
  if (z.x == 0 && z.y == 0) return make_{D}(0, z.y);
  if (isinf(z.y)) return make_{D}(INFINITY, z.y);
  if (isinf(z.x)) return z.x > 0 ? make_{D}(z.x, isnan(z.y) ? z.y : copysign(({C})0, z.y)) : make_{D}(isnan(z.y) ? z.y : 0, copysign(({C})INFINITY, z.y));
  const i32 e = -ilogb(fmax(fabs(z.x), fabs(z.y))) & ~1;
  const {C} x = ldexp(z.x, e), y = ldexp(z.y, e);
  const {C} t = sqrt((fabs(x) + hypot(x, y)) / 2), u = y / (2 * t);
  return x >= 0 ? make_{D}(ldexp(t, -e / 2), ldexp(u, -e / 2)) : make_{D}(ldexp(fabs(u), -e / 2), ldexp(copysign(t, y), -e / 2));
})"},
    {"rlx_pow_{D}", complex_types, R"({T} rlx_pow_{D}({T} z, {T} w) {
  if (w.x == 0 && w.y == 0) return make_{D}(1, 0);
  if (z.x == 0 && z.y == 0 && w.x > 0) return make_{D}(0, 0);
  return rlx_exp_{D}(rlx_mul_{D}(w, rlx_log_{D}(z)));
})"},
    // Where one part is zero, what the other has no value for stays zero.
    {"rlx_sinh_{D}", complex_types, R"({T} rlx_sinh_{D}({T} z) {
  return make_{D}(z.x == 0 && !isfinite(z.y) ? z.x : sinh(z.x) * cos(z.y), z.y == 0 ? z.y : cosh(z.x) * sin(z.y));
})"},
    {"rlx_cosh_{D}", complex_types, R"({T} rlx_cosh_{D}({T} z) {
  return make_{D}(cosh(z.x) * cos(z.y), z.x == 0 || z.y == 0 ? copysign(({C})0, z.x) * copysign(({C})1, z.y) : sinh(z.x) * sin(z.y));
})"},
    {"rlx_sin_{D}", complex_types,
     "{T} rlx_sin_{D}({T} z) { const {T} s = rlx_sinh_{D}(make_{D}(-z.y, z.x)); return make_{D}(s.y, -s.x); }"},
    // Kahan, "Branch cuts for complex elementary functions" (1987): no overflow, and exact where cosh^2 is large.
    {"rlx_tanh_{D}", complex_types, R"({T} rlx_tanh_{D}({T} z) {
  if (fabs(z.x) > 22) return make_{D}(copysign(({C})1, z.x), 4 * sin(z.y) * cos(z.y) * exp(-2 * fabs(z.x)));
  const {C} t = tan(z.y), beta = 1 + t * t, s = sinh(z.x), rho = sqrt(1 + s * s);
  if (isinf(t)) return make_{D}(rho / s, 1 / t);
  const {C} d = 1 + beta * s * s;
  return make_{D}(z.x == 0 ? z.x : beta * rho * s / d, z.y == 0 ? z.y : t / d);
})"},
    {"rlx_tan_{D}", complex_types,
     "{T} rlx_tan_{D}({T} z) { const {T} s = rlx_tanh_{D}(make_{D}(-z.y, z.x)); return make_{D}(s.y, -s.x); }"},
};

}  // namespace

constinit const std::span<const Spelling> complex_spellings = complex_table;
constinit const std::span<const Helper> complex_helpers = complex_functions;

}  // namespace rlx::emit_source
