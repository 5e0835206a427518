// Elementary functions in f32 for languages that lack them, or have only bad ones (graphics languages: errors in
// absolute terms, no promise for large arguments). Nothing here needs more than f32, 32-bit integers, fabs, floor, sqrt
// and an fma that rounds once. tests/compile/c_math_f32_test.cpp measures errors: 2 ulp, 3 for sin, cos and sinh, 4 for
// tan, erfc, erfinv and pow; rem is exact. The schemes and polynomials are those of src/compile/emit_llvm/math, where
// the sources of both are named.
#include "compile/emit_source/common.hpp"

namespace rlx::emit_source {
namespace {

constexpr DTypeSet in_f32{DType::f16, DType::bf16, DType::f32};

constexpr Spelling single_table[] = {
    {"exp", in_f32, "rlx_exp_f32({0}, 0)"},   {"log", in_f32, "rlx_log_f32({0})"},
    {"expm1", in_f32, "rlx_expm1_f32({0})"},  {"log1p", in_f32, "rlx_log1p_f32({0})"},
    {"cbrt", in_f32, "rlx_cbrt_f32({0})"},    {"sin", in_f32, "rlx_sin_f32({0}, 0)"},
    {"cos", in_f32, "rlx_sin_f32({0}, 1)"},   {"tan", in_f32, "rlx_sin_f32({0}, 0) / rlx_sin_f32({0}, 1)"},
    {"asin", in_f32, "rlx_asin_f32({0})"},    {"acos", in_f32, "rlx_acos_f32({0})"},
    {"atan", in_f32, "rlx_atan_f32({0})"},    {"atan2", in_f32, "rlx_atan2_f32({0}, {1})"},
    {"sinh", in_f32, "rlx_sinh_f32({0})"},    {"cosh", in_f32, "rlx_cosh_f32({0})"},
    {"tanh", in_f32, "rlx_tanh_f32({0})"},    {"erf", in_f32, "rlx_erf_f32({0})"},
    {"erfc", in_f32, "rlx_erfc_f32({0})"},    {"erfinv", in_f32, "rlx_erfinv_f32({0})"},
    {"pow", in_f32, "rlx_pow_f32({0}, {1})"}, {"rem", in_f32, "rlx_rem_f32({0}, {1})"},
};

constexpr Helper single_functions[] = {
    {"rlx_signed_f32", {}, R"(f32 rlx_signed_f32(f32 size, f32 like) {
  return bits_f32((f32_bits(size) & 0x7fffffffu) | (f32_bits(like) & 0x80000000u));
})"},
    // x * 2^n, rounded once; n within twice the exponents' range.
    {"rlx_scale_f32", {}, R"(f32 rlx_scale_f32(f32 x, i32 n) {
  const i32 half_n = n >> 1;
  return x * bits_f32((u32)(half_n + 127) << 23) * bits_f32((u32)(n - half_n + 127) << 23);
})"},
    // exp(x) * 2^shift: from |r| <= ln(2) / 2, ln 2 in two parts. Clamped to where the result over- or underflows.
    {"rlx_exp_f32", {}, R"(f32 rlx_exp_f32(f32 x, i32 shift) {
  if (isnan(x)) return x;
  const f32 y = x < -105.0f ? -105.0f : x > 91.0f ? 91.0f : x, n = floor(y * 1.44269504f + 0.5f);
  const f32 r = fma(n, 1.904654299957768e-09f, fma(n, -0.693147182464599609375f, y));
  const f32 p = fma(r, fma(r, fma(r, fma(r, fma(r, fma(r, 0.00139516254f, 0.00836959947f), 0.0416661873f), 0.166665122f), 0.5f), 1.0f), 1.0f);
  return rlx_scale_f32(p, (i32)n + shift);
})"},
    // Half of 2^n, since 2^n itself may overflow where the result does not.
    {"rlx_expm1_f32", {}, R"(f32 rlx_expm1_f32(f32 x) {
  if (isnan(x) || x == 0.0f) return x;
  const f32 y = x < -20.0f ? -20.0f : x > 89.0f ? 89.0f : x, n = floor(y * 1.44269504f + 0.5f);
  const f32 r = fma(n, 1.904654299957768e-09f, fma(n, -0.693147182464599609375f, y));
  const f32 q = fma(r, fma(r, fma(r, fma(r, 0.0013948445f, 0.00836724415f), 0.0416662507f), 0.166665375f), 0.5f);
  const f32 s = bits_f32((u32)((i32)n + 126) << 23);
  return fma(s, fma(r * r, q, r), s - 0.5f) * 2.0f;
})"},
    // log(x) + low, x positive and finite, as 2^e (1 + f).
    {"rlx_log_plus_f32", {}, R"(f32 rlx_log_plus_f32(f32 x, f32 low) {
  const bool tiny = x < 0x1p-126f;
  const u32 moved = f32_bits(tiny ? x * 33554432.0f : x) + (0x3f800000u - 0x3f3504f3u);
  const f32 e = (f32)((i32)(moved >> 23) - (tiny ? 152 : 127)), f = bits_f32((moved & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const f32 s = f / (f + 2.0f), z = s * s, half_square = f * f * 0.5f;
  const f32 r = z * fma(z, fma(z, fma(z, 0.235851631f, 0.285371631f), 0.400003374f), 0.666666627f);
  const f32 rest = fma(s, half_square + r, e * -1.904654299957768e-09f) + low;
  return fma(e, 0.693147182464599609375f, f - (half_square - rest));
})"},
    {"rlx_log_f32", {}, R"(f32 rlx_log_f32(f32 x) {
  if (!(x > 0.0f)) return x == 0.0f ? -INFINITY : NAN;
  return isinf(x) ? x : rlx_log_plus_f32(x, 0.0f);
})"},
    // With what rounding 1 + x lost, relative to the sum.
    {"rlx_log1p_f32", {}, R"(f32 rlx_log1p_f32(f32 x) {
  const f32 u = x + 1.0f;
  if (x == 0.0f || isnan(x) || (isinf(x) && x > 0.0f)) return x;
  if (!(u > 0.0f)) return u == 0.0f ? -INFINITY : NAN;
  return rlx_log_plus_f32(u, (x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x)) / u);
})"},
    // A third of the exponent, two steps of Halley's iteration, one of Newton's with an exact residual.
    {"rlx_cbrt_f32", {}, R"(f32 rlx_cbrt_f32(f32 x) {
  const f32 size = fabs(x);
  if (!(size > 0.0f) || isinf(x)) return x;
  const bool tiny = size < 0x1p-126f, huge = size > 1e36f;
  const f32 a = tiny ? size * 16777216.0f : huge ? size * 0x1p-24f : size;
  f32 r = bits_f32(f32_bits(a) / 3u + 709958130u);
  for (i32 k = 0; k < 2; ++k) {
    const f32 cube = r * r * r;
    r = r * ((cube + a * 2.0f) / (cube * 2.0f + a));
  }
  const f32 square = r * r;
  r = r - (fma(square, r, -a) + fma(r, r, -square) * r) / (square * 3.0f);
  return rlx_signed_f32(tiny ? r * 0x1p-8f : huge ? r * 256.0f : r, x);
})"},
    // Bits of 2 / pi, after 32 zeros.
    {"rlx_two_over_pi", {}, R"(u32 rlx_two_over_pi(u32 i) {
  return i == 0u ? 0u : i == 1u ? 0xa2f9836eu : i == 2u ? 0x4e441529u : i == 3u ? 0xfc2757d1u
       : i == 4u ? 0xf534ddc0u : i == 5u ? 0xdb629599u : i == 6u ? 0x3c439041u : 0xfe5163abu;
})"},
    {"rlx_two_over_pi_at", {}, R"(u32 rlx_two_over_pi_at(u32 bit) {
  const u32 i = bit >> 5, s = bit & 31u, a = rlx_two_over_pi(i);
  return s == 0u ? a : a << s | rlx_two_over_pi(i + 1u) >> (32u - s);
})"},
    {"rlx_high_product", {}, R"(u32 rlx_high_product(u32 a, u32 b) {
  const u32 low = (a & 0xffffu) * (b & 0xffffu), one = (a >> 16) * (b & 0xffffu) + (low >> 16);
  const u32 two = (a & 0xffffu) * (b >> 16) + (one & 0xffffu);
  return (a >> 16) * (b >> 16) + (one >> 16) + (two >> 16);
})"},
    // sin(x + quarter * pi / 2). Up to 2^17 the multiple of pi / 2 is taken away in three parts; beyond, the product of
    // the mantissa with those bits of 2 / pi that matter modulo 4 quadrants, in units of 2^-62.
    {"rlx_sin_f32", {}, R"(f32 rlx_sin_f32(f32 x, i32 quarter) {
  if (isnan(x) || isinf(x)) return NAN;
  if (x == 0.0f && quarter == 0) return x;
  const f32 size = fabs(x);
  i32 q;
  f32 r;
  if (size < 131072.0f) {
    const f32 n = floor(x * 0.63661977236f + 0.5f);
    q = (i32)n;
    r = fma(n, 1.71512451306e-15f, fma(n, 4.37113900018624283e-8f, fma(n, -1.57079637050628662109375f, x)));
  } else {
    const u32 bits = f32_bits(size), m = (bits & 0x7fffffu) | 0x800000u, bit = (bits >> 23) - 120u;
    const u32 a = rlx_two_over_pi_at(bit), b = rlx_two_over_pi_at(bit + 32u), c = rlx_two_over_pi_at(bit + 64u);
    const u32 carry = rlx_high_product(m, c), low = m * b + carry;
    const u32 high = m * a + rlx_high_product(m, b) + (low < carry ? 1u : 0u);
    const u32 quadrant = (high + 0x20000000u) >> 30, rest = high - (quadrant << 30);
    const bool minus = rest >> 31 != 0u;
    const u32 one = minus ? ~rest + (low == 0u ? 1u : 0u) : rest, two = minus ? 0u - low : low;
    const f32 turns = (f32)one * 0x1p-30f + (f32)two * 0x1p-62f;
    r = fma(turns, 1.57079637050628662109375f, turns * -4.37113882867e-8f) * (minus != (x < 0.0f) ? -1.0f : 1.0f);
    q = x < 0.0f ? -(i32)quadrant : (i32)quadrant;
  }
  const f32 z = r * r;
  q = q + quarter;
  const f32 sine = fma(r * z, fma(z, fma(z, fma(z, 2.71793988e-06f, -0.000198392969f), 0.00833332911f), -0.166666672f), r);
  const f32 cosine = fma(z * z, fma(z, fma(z, 2.44349521e-05f, -0.00138873386f), 0.0416666456f), fma(z, -0.5f, 1.0f));
  const f32 y = (q & 1) != 0 ? cosine : sine;
  return (q & 2) != 0 ? -y : y;
})"},
    // atan of y / x in [0, 1].
    {"rlx_atan_ratio_f32", {}, R"(f32 rlx_atan_ratio_f32(f32 y, f32 x) {
  const bool upper = y > x * 0.41421356237309503f;
  const f32 t = (upper ? y - x : y) / (upper ? y + x : x), z = t * t;
  const f32 p = fma(z, fma(z, fma(z, fma(z, -0.0607889816f, 0.105942942f), -0.142436311f), 0.199984789f), -0.333333164f);
  return (upper ? 0.785398185253143310546875f : 0.0f) + (fma(t * z, p, upper ? -2.18556943964e-8f : 0.0f) + t);
})"},
    {"rlx_atan_f32", {}, R"(f32 rlx_atan_f32(f32 x) {
  const f32 size = fabs(x);
  if (!(size > 1.0f)) return x == 0.0f || isnan(x) ? x : rlx_signed_f32(rlx_atan_ratio_f32(size, 1.0f), x);
  return rlx_signed_f32(1.57079637050628662109375f - (rlx_atan_ratio_f32(1.0f, size) + 4.37113882867e-8f), x);
})"},
    // From the nearest axis. Sums must not overflow; two zeros make the angle 0, two infinities pi / 4.
    {"rlx_atan2_f32", {}, R"(f32 rlx_atan2_f32(f32 y, f32 x) {
  if (isnan(x) || isnan(y)) return x + y;
  const bool steep = fabs(y) > fabs(x), left = f32_bits(x) >> 31 != 0u;
  const f32 longer = steep ? fabs(y) : fabs(x), shorter = steep ? fabs(x) : fabs(y), unit = longer > 1e37f ? 0.125f : 1.0f;
  const f32 across = isinf(shorter) ? 1.0f : shorter * unit, along = isinf(shorter) || longer == 0.0f ? 1.0f : longer * unit;
  const f32 a = rlx_atan_ratio_f32(across, along), axis = steep ? 1.57079637050628662109375f : 3.1415927410125732421875f;
  const f32 low = steep ? -4.37113882867e-8f : -8.74227765735e-8f;
  return rlx_signed_f32(steep || left ? axis + ((steep != left ? -a : a) + low) : a, y);
})"},
    // asin(x) - x for |x| <= 1/2; above, the half angle.
    {"rlx_asin_tail_f32", {}, R"(f32 rlx_asin_tail_f32(f32 x, f32 z) {
  return x * z * fma(z, fma(z, fma(z, fma(z, 0.0422403403f, 0.0241359826f), 0.0454791896f), 0.0749522746f), 0.166667536f);
})"},
    {"rlx_asin_f32", {}, R"(f32 rlx_asin_f32(f32 x) {
  const f32 size = fabs(x);
  if (!(size > 0.5f)) return x == 0.0f || isnan(x) ? x : x + rlx_asin_tail_f32(x, x * x);
  const f32 z = fma(size, -0.5f, 0.5f), s = sqrt(z), lost = s == 0.0f ? 0.0f : fma(-s, s, z) / (s * 2.0f);
  const f32 rest = (rlx_asin_tail_f32(s, z) + lost) * 2.0f + 4.37113882867e-8f;
  return rlx_signed_f32(0.785398185253143310546875f + ((0.785398185253143310546875f - s * 2.0f) - rest), x);
})"},
    {"rlx_acos_f32", {}, R"(f32 rlx_acos_f32(f32 x) {
  const f32 size = fabs(x);
  if (!(size > 0.5f)) return 1.57079637050628662109375f - (x + rlx_asin_tail_f32(x, x * x) + 4.37113882867e-8f);
  const f32 z = fma(size, -0.5f, 0.5f), s = sqrt(z), a = (s + rlx_asin_tail_f32(s, z)) * 2.0f;
  return x < 0.0f ? 3.1415927410125732421875f - (a + 8.74227765735e-8f) : a;
})"},
    // By half of exp(|x|), which overflows only where the results do.
    {"rlx_sinh_f32", {}, R"(f32 rlx_sinh_f32(f32 x) {
  const f32 size = fabs(x), t = rlx_expm1_f32(size);
  return rlx_signed_f32(size < 20.0f ? (t + t / (t + 1.0f)) * 0.5f : rlx_exp_f32(size, -1), x);
})"},
    {"rlx_cosh_f32", {}, R"(f32 rlx_cosh_f32(f32 x) {
  const f32 half_exp = rlx_exp_f32(fabs(x), -1);
  return half_exp + 0.25f / half_exp;
})"},
    {"rlx_tanh_f32", {}, R"(f32 rlx_tanh_f32(f32 x) {
  const f32 size = fabs(x), z = x * x;
  if (size < 0.625f) {
    const f32 p = fma(z, fma(z, fma(z, fma(z, -0.00567935919f, 0.0206181761f), -0.0537340194f), 0.133313835f), -0.333332807f);
    return rlx_signed_f32(fma(size * z, p, size), x);
  }
  return rlx_signed_f32(1.0f - 2.0f / (rlx_exp_f32(size * 2.0f, 0) + 1.0f), x);
})"},
    // exp(x^2) erfc(x), times exp(-x^2) with what rounding the square lost.
    {"rlx_erfc_beyond_f32", {}, R"(f32 rlx_erfc_beyond_f32(f32 size) {
  const f32 x = size > 11.0f ? 11.0f : size, square = x * x, lost = fma(x, x, -square), t = (x - 3.0f) / (x + 3.0f);
  f32 p = fma(t, -0.000196023539f, -0.000625850458f);
  p = fma(t, fma(t, fma(t, fma(t, p, 0.00203066785f), 0.00245432509f), -0.0238464288f), 0.0683247f);
  p = fma(t, fma(t, fma(t, fma(t, p, -0.119257078f), 0.129643515f), -0.047563564f), -0.135621056f);
  const f32 quotient = fma(t, p, 1.25300813f) / fma(x, 2.0f, 1.0f);
  return rlx_scale_f32(rlx_exp_f32(-square, 24) * (quotient - quotient * lost), -24);
})"},
    {"rlx_erf_near_f32", {}, R"(f32 rlx_erf_near_f32(f32 x) {
  const f32 z = x * x;
  f32 p = fma(z, fma(z, fma(z, -9.68013683e-06f, 0.000112705486f), -0.000848471245f), 0.00522107491f);
  p = fma(z, fma(z, fma(z, fma(z, p, -0.0268654451f), 0.112837829f), -0.376126379f), 0.128379166f);
  return fma(x, p, x);
})"},
    {"rlx_erf_f32", {}, R"(f32 rlx_erf_f32(f32 x) {
  if (!(fabs(x) > 1.0f)) return x == 0.0f ? x : rlx_erf_near_f32(x);
  return rlx_signed_f32(1.0f - rlx_erfc_beyond_f32(fabs(x)), x);
})"},
    {"rlx_erfc_f32", {}, R"(f32 rlx_erfc_f32(f32 x) {
  if (!(fabs(x) > 0.5f)) return 1.0f - rlx_erf_near_f32(x);
  const f32 y = rlx_erfc_beyond_f32(fabs(x));
  return x < 0.0f ? 2.0f - y : y;
})"},
    // erfinv(x) / x by w = -log(1 - x^2) up to 5, and by sqrt(w) beyond.
    {"rlx_erfinv_f32", {}, R"(f32 rlx_erfinv_f32(f32 x) {
  if (!(fabs(x) < 1.0f)) return fabs(x) == 1.0f ? x * INFINITY : NAN;
  const f32 u = fma(-x, x, 1.0f), lost = u > 0.5f ? fma(-x, x, 1.0f - u) : 0.0f, w = -rlx_log_plus_f32(u, lost / u);
  const bool far = w >= 5.0f;
  const f32 t = far ? sqrt(w) - 3.0f : w - 2.5f;
  f32 p = far ? fma(t, 0.000115068375f, -0.000309030642f) : fma(t, -8.93192631e-09f, 2.33359678e-08f);
  p = fma(t, p, far ? -5.53494174e-05f : 4.68131361e-07f);
  p = fma(t, p, far ? 0.00148407998f : -3.46398519e-06f);
  p = fma(t, p, far ? -0.00359846698f : -4.9724199e-06f);
  p = fma(t, p, far ? 0.0056875241f : 0.000218349393f);
  p = fma(t, p, far ? -0.00763698481f : -0.00125272642f);
  p = fma(t, p, far ? 0.00944519602f : -0.00417739293f);
  p = fma(t, p, far ? 1.00167489f : 0.24664028f);
  return fma(t, p, far ? 2.83297682f : 1.50140941f) * x;
})"},
    // |x|^y = exp(y log |x|), the logarithm as an unevaluated sum of two: log(1 + f) = 2 s + 2/3 s^3 + s^5 P(s^2).
    {"rlx_power_f32", {}, R"(f32 rlx_power_f32(f32 x, f32 y) {
  const bool tiny = x < 0x1p-126f;
  const u32 moved = f32_bits(tiny ? x * 33554432.0f : x) + (0x3f800000u - 0x3f3504f3u);
  const f32 e = (f32)((i32)(moved >> 23) - (tiny ? 152 : 127)), f = bits_f32((moved & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const f32 d = f + 2.0f, d_low = f - (d - 2.0f), s = f / d, s_low = (fma(-s, d, f) - s * d_low) / d;
  const f32 z = s * s, z_low = fma(s * 2.0f, s_low, fma(s, s, -z));
  const f32 c = s * z, c_low = fma(s, z, -c) + fma(s, z_low, s_low * z);
  const f32 d3 = c * 0.666666686534881591796875f;
  const f32 d3_low = fma(c, 0.666666686534881591796875f, -d3) + fma(c, -1.9868215517249155e-08f, c_low * 0.666666686534881591796875f);
  const f32 tail = c * z * fma(z, fma(z, fma(z, 0.1827273f, 0.2222165f), 0.2857143f), 0.4f);
  const f32 el = e * 0.693147182464599609375f, el_low = fma(e, 0.693147182464599609375f, -el);
  const f32 a = el + s * 2.0f, a_low = s * 2.0f - (a - el), b = a + d3, b_low = d3 - (b - a);
  const f32 low = a_low + b_low + (fma(e, -1.904654299957768e-09f, el_low) + (s_low * 2.0f + (d3_low + tail)));
  const f32 l = b + low, l_low = low - (l - b), high = y * l, rest = fma(y, l, -high) + y * l_low;
  if (!(fabs(high) < 200.0f)) return rlx_exp_f32(high, 0);
  const i32 shift = high < 0.0f ? 24 : 0;  // so that what is rounded is no subnormal number
  const f32 power = rlx_exp_f32(high, shift);
  return isinf(power) ? power : rlx_scale_f32(fma(power, rest, power), -shift);
})"},
    {"rlx_pow_f32", {}, R"(f32 rlx_pow_f32(f32 x, f32 y) {
  const f32 size = fabs(x), half_y = y * 0.5f;
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (isnan(x) || isnan(y)) return x + y;
  const bool whole = floor(y) == y, odd = whole && floor(half_y) != half_y, minus = f32_bits(x) >> 31 != 0u;
  if (minus && !whole && size != 0.0f && !isinf(x)) return NAN;
  f32 r = 1.0f;
  if (size == 0.0f || isinf(x)) r = (size == 0.0f) == (y > 0.0f) ? 0.0f : INFINITY;
  else if (isinf(y)) r = size == 1.0f ? 1.0f : (size > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
  else if (size != 1.0f) r = rlx_power_f32(size, y);
  return minus && odd ? -r : r;
})"},
    // Takes away the largest doubling of the divisor that fits, exactly, until none does.
    {"rlx_rem_f32", {}, R"(f32 rlx_rem_f32(f32 x, f32 y) {
  const f32 divisor = fabs(y);
  f32 rest = fabs(x);
  if (!(divisor > 0.0f) || isnan(x) || isinf(x)) return NAN;
  while (rest >= divisor && !isinf(divisor)) {
    f32 part = divisor;
    while (part <= rest - part) part = part + part;
    rest = rest - part;
  }
  return rlx_signed_f32(rest, x);
})"},
};

}  // namespace

constinit const std::span<const Spelling> single_spellings = single_table;
constinit const std::span<const Helper> single_helpers = single_functions;

}  // namespace rlx::emit_source
