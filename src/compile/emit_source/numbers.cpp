// Helper functions for number formats and integer arithmetic.
#include "compile/emit_source/common.hpp"

namespace rlx::emit_source {
namespace {

constexpr Helper numbers_table[] = {
    // x / 0 is all ones; the least integer divided by -1 is itself.
    {"rlx_div_{D}", signed_integers,
     "{T} rlx_div_{D}({T} x, {T} y) { return y == 0 ? ({T})-1 : y == -1 ? ({T})(0 - ({U})x) : ({T})(x / y); }"},
    {"rlx_div_{D}", unsigned_integers,
     "{T} rlx_div_{D}({T} x, {T} y) { return y == 0 ? ({T})~({T})0 : ({T})(x / y); }"},
    {"rlx_rem_{D}", signed_integers,
     "{T} rlx_rem_{D}({T} x, {T} y) { return y == 0 ? x : y == -1 ? ({T})0 : ({T})(x % y); }"},
    {"rlx_rem_{D}", unsigned_integers, "{T} rlx_rem_{D}({T} x, {T} y) { return y == 0 ? x : ({T})(x % y); }"},
    // A negative exponent gives the truncated reciprocal: 0 but for the bases 1 and -1.
    {"rlx_pow_{D}", signed_integers, R"({T} rlx_pow_{D}({T} x, {T} n) {
  if (n < 0) return x == 1 ? ({T})1 : x == -1 ? (n & 1 ? ({T})-1 : ({T})1) : ({T})0;
  {U} base = ({U})x, power = 1;
  for (; n > 0; n >>= 1, base *= base) if (n & 1) power *= base;
  return ({T})power;
})"},
    {"rlx_pow_{D}", unsigned_integers, R"({T} rlx_pow_{D}({T} x, {T} n) {
  {U} base = x, power = 1;
  for (; n > 0; n >>= 1, base *= base) if (n & 1) power *= base;
  return ({T})power;
})"},
    {"rlx_popcount_{D}", integers, R"({T} rlx_popcount_{D}({T} x) {
  {U} n = 0;
  for ({U} bits = ({U})({V})x; bits != 0; bits &= bits - 1) n += 1;
  return ({T})n;
})"},
    {"rlx_clz_{D}", integers, R"({T} rlx_clz_{D}({T} x) {
  {U} n = {W};
  for ({U} bits = ({U})({V})x; bits != 0; bits >>= 1) n -= 1;
  return ({T})n;
})"},
    // Unsigned: the sign is the highest bit.
    {"rlx_sra_{D}", unsigned_integers, R"({T} rlx_sra_{D}({T} x, {T} n) {
  const {T} fill = x >> ({W} - 1) ? ({T})~({T})0 : ({T})0;
  return n >= {W} ? fill : n == 0 ? x : ({T})(({T})(x >> n) | ({T})(fill << ({W} - n)));
})"},
    // fmin and fmax drop NaNs; here one NaN makes the result NaN, and -0 is less than 0.
    {"rlx_min_{D}", floating, R"({T} rlx_min_{D}({T} x, {T} y) {
  return isnan(x) ? x : isnan(y) ? y : x < y ? x : y < x ? y : signbit(x) ? x : y;
})"},
    {"rlx_max_{D}", floating, R"({T} rlx_max_{D}({T} x, {T} y) {
  return isnan(x) ? x : isnan(y) ? y : x > y ? x : y > x ? y : signbit(x) ? y : x;
})"},

    // Rounding a float to `drop` fewer bits of mantissa, to nearest even. Below min_normal the last place is that of
    // `magic`,
    // a power of two 2^23 times as large, so adding it rounds.
    {"rlx_round_small",
     {},
     R"(f32 rlx_round_small(f32 x, u32 drop, f32 min_normal, f32 magic, f32 max_finite, f32 over) {
  const f32 a = fabs(x);
  const u32 bits = f32_bits(a), half_place = (1u << (drop - 1)) - 1;
  f32 r = a < min_normal ? (a + magic) - magic : bits_f32((bits + half_place + (bits >> drop & 1u)) & ~((1u << drop) - 1));
  r = r > max_finite ? over : r;
  return isnan(x) ? x : copysign(r, x);
})"},
    {"rlx_round_f16",
     {},
     "f32 rlx_round_f16(f32 x) { return rlx_round_small(x, 13, 0x1p-14f, 0x1p-1f, 65504.0f, INFINITY); }"},
    // Exponents are those of float, so subnormals and the carry into infinity need no case of their own.
    {"rlx_round_bf16", {}, R"(f32 rlx_round_bf16(f32 x) {
  const u32 bits = f32_bits(x);
  return bits_f32(isnan(x) ? (bits | 0x400000u) & 0xffff0000u : (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
})"},
    {"rlx_round_f8e4m3fn",
     {},
     "f32 rlx_round_f8e4m3fn(f32 x) { return rlx_round_small(x, 20, 0x1p-6f, 0x1p14f, 448.0f, NAN); }"},
    {"rlx_round_f8e5m2",
     {},
     "f32 rlx_round_f8e5m2(f32 x) { return rlx_round_small(x, 21, 0x1p-14f, 0x1p7f, 57344.0f, INFINITY); }"},
    // The fnuz types have one zero. Adding 0 turns -0 into 0.
    {"rlx_round_f8e4m3fnuz",
     {},
     "f32 rlx_round_f8e4m3fnuz(f32 x) { return rlx_round_small(x, 20, 0x1p-7f, 0x1p13f, 240.0f, NAN) + 0.0f; }"},
    {"rlx_round_f8e5m2fnuz",
     {},
     "f32 rlx_round_f8e5m2fnuz(f32 x) { return rlx_round_small(x, 21, 0x1p-15f, 0x1p6f, 57344.0f, NAN) + 0.0f; }"},

    // Codes of values that are already rounded: sign, exponent field and mantissa cut from the float, or the count of
    // subnormal places.
    {"rlx_small_bits", {}, R"(u8 rlx_small_bits(f32 x, u32 drop, u32 bias, f32 min_normal, f32 places) {
  const f32 a = fabs(x);
  const u32 code = a < min_normal ? (u32)(a * places) : (f32_bits(a) >> drop) - ((127 - bias) << (23 - drop));
  return (u8)(code | (signbit(x) ? 0x80u : 0u));
})"},
    {"rlx_small_value", {}, R"(f32 rlx_small_value(u8 bits, u32 drop, u32 bias, f32 place) {
  const u32 code = bits & 0x7fu;
  const f32 a = code >> (23 - drop) ? bits_f32((code + ((127 - bias) << (23 - drop))) << drop) : (f32)code * place;
  return bits & 0x80u ? -a : a;
})"},
    {"rlx_f8e4m3fn_bits", {}, R"(u8 rlx_f8e4m3fn_bits(f32 x) {
  return isnan(x) ? (u8)(0x7f | (signbit(x) ? 0x80 : 0)) : rlx_small_bits(x, 20, 7, 0x1p-6f, 0x1p9f);
})"},
    {"rlx_f8e4m3fn_value", {}, R"(f32 rlx_f8e4m3fn_value(u8 bits) {
  return (bits & 0x7f) == 0x7f ? bits_f32(0x7fc00000u | (u32)(bits & 0x80) << 24) : rlx_small_value(bits, 20, 7, 0x1p-9f);
})"},
    {"rlx_f8e5m2_bits", {}, R"(u8 rlx_f8e5m2_bits(f32 x) {
  const u8 sign = signbit(x) ? 0x80 : 0;
  return isnan(x) ? (u8)(0x7e | sign) : isinf(x) ? (u8)(0x7c | sign) : rlx_small_bits(x, 21, 15, 0x1p-14f, 0x1p16f);
})"},
    {"rlx_f8e5m2_value", {}, R"(f32 rlx_f8e5m2_value(u8 bits) {
  const u32 special = (bits & 0x7f) > 0x7c ? 0x7fc00000u : 0x7f800000u;
  return (bits & 0x7c) == 0x7c ? bits_f32(special | (u32)(bits & 0x80) << 24) : rlx_small_value(bits, 21, 15, 0x1p-16f);
})"},
    {"rlx_f8e4m3fnuz_bits",
     {},
     "u8 rlx_f8e4m3fnuz_bits(f32 x) { return isnan(x) ? (u8)0x80 : rlx_small_bits(x, 20, 8, 0x1p-7f, 0x1p10f); "
     "}"},
    {"rlx_f8e4m3fnuz_value",
     {},
     "f32 rlx_f8e4m3fnuz_value(u8 bits) { return bits == 0x80 ? NAN : rlx_small_value(bits, 20, 8, 0x1p-10f); }"},
    {"rlx_f8e5m2fnuz_bits",
     {},
     "u8 rlx_f8e5m2fnuz_bits(f32 x) { return isnan(x) ? (u8)0x80 : rlx_small_bits(x, 21, 16, 0x1p-15f, "
     "0x1p17f); }"},
    {"rlx_f8e5m2fnuz_value",
     {},
     "f32 rlx_f8e5m2fnuz_value(u8 bits) { return bits == 0x80 ? NAN : rlx_small_value(bits, 21, 16, 0x1p-17f); }"},
    // NaNs keep the upper bits of what they carry.
    {"rlx_f16_bits", {}, R"(u16 rlx_f16_bits(f32 x) {
  const u32 bits = f32_bits(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) return (u16)(sign | 0x7c00u | (magnitude >> 13 & 0x3ffu) | (magnitude > 0x7f800000u ? 0x200u : 0u));
  return (u16)(sign | (magnitude < 0x38800000u ? (u32)(fabs(x) * 0x1p24f) : (magnitude >> 13) - (112u << 10)));
})"},
    {"rlx_f16_value", {}, R"(f32 rlx_f16_value(u16 bits) {
  const u32 code = bits & 0x7fffu;
  const f32 a = code >= 0x7c00u ? bits_f32(0x7f800000u | (code & 0x3ffu) << 13)
                : code >> 10 != 0 ? bits_f32((code + (112u << 10)) << 13) : (f32)code * 0x1p-24f;
  return bits & 0x8000u ? -a : a;
})"},

    // Rounding to odd: truncate, and set the last bit if anything was cut. A later rounding to nearest of at least two
    // bits
    // fewer then gives what one rounding of the exact value gives (Boldo and Melquiond, "Emulation of FMA and correctly
    // rounded sums: proved algorithms using rounding to odd", 2008).
    {"rlx_odd", {}, R"(f32 rlx_odd(f64 x) {
  const f32 near = (f32)x;
  if (isnan(x) || (f64)near == x) return near;
  const f32 cut = fabs((f64)near) > fabs(x) ? bits_f32(f32_bits(near) - 1) : near;
  return bits_f32(f32_bits(cut) | 1u);
})"},
    // 64-bit integers: the bits that a double cannot hold are gathered in its last one first.
    {"rlx_odd_{D}", wide_integers, R"(f32 rlx_odd_{D}({T} x) {
  const u64 m = x < 0 ? 0 - (u64)x : (u64)x;
  const f64 a = (f64)(m > 0xffffffffful ? (m & ~0x7fful) | (u64)((m & 0x7ff) != 0) << 11 : m);
  return rlx_odd(x < 0 ? -a : a);
})"},
    // As XLA does it, on the code of the operand's own type: the mantissa rounds to nearest even where it stands, then
    // an
    // exponent that the reduced range lacks (its ends are reserved) gives infinity or zero.
    {"rlx_reduce_bits", {}, R"(u64 rlx_reduce_bits(u64 bits, i32 mantissa, i32 exponent, i32 e, i32 m) {
  const u64 sign = 1ul << (mantissa + exponent), infinity = ((1ul << exponent) - 1) << mantissa;
  u64 code = bits & (sign - 1);
  if (code >= infinity) return bits;
  if (m < mantissa) {
    const i32 drop = mantissa - m;
    code += (1ul << (drop - 1)) - 1 + (code >> drop & 1ul);
    code = code >> drop << drop;
  }
  if (e < exponent) {
    const i32 power = (i32)(code >> mantissa) - ((1 << (exponent - 1)) - 1), range = (1 << (e - 1)) - 1;
    if (power > range) code = infinity;
    if (power <= -range) code = 0;
  }
  return code | (bits & sign);
})"},
};

}  // namespace

constinit const std::span<const Helper> number_helpers = numbers_table;

}  // namespace rlx::emit_source
