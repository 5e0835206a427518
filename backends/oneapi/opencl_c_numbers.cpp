// Helper functions in OpenCL C for number formats and integer arithmetic.
#include "opencl_c.hpp"

namespace rlx::oneapi {
namespace {

using emit_source::Helper;

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
    // Unsigned: the sign is the highest bit.
    {"rlx_sra_{D}", unsigned_integers, R"({T} rlx_sra_{D}({T} x, {T} n) {
  const {T} fill = x >> ({W} - 1) ? ({T})~({T})0 : ({T})0;
  return n >= {W} ? fill : n == 0 ? x : ({T})(({T})(x >> n) | ({T})(fill << ({W} - n)));
})"},
    // fmin and fmax of OpenCL drop NaNs; here one NaN makes the result NaN, and -0 is less than 0.
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
     R"(float rlx_round_small(float x, uint drop, float min_normal, float magic, float max_finite, float over) {
  const float a = fabs(x);
  const uint bits = as_uint(a), half_place = (1u << (drop - 1)) - 1;
  float r = a < min_normal ? (a + magic) - magic : as_float((bits + half_place + (bits >> drop & 1u)) & ~((1u << drop) - 1));
  r = r > max_finite ? over : r;
  return isnan(x) ? x : copysign(r, x);
})"},
    {"rlx_round_f16",
     {},
     "float rlx_round_f16(float x) { return rlx_round_small(x, 13, 0x1p-14f, 0x1p-1f, 65504.0f, INFINITY); }"},
    // Exponents are those of float, so subnormals and the carry into infinity need no case of their own.
    {"rlx_round_bf16", {}, R"(float rlx_round_bf16(float x) {
  const uint bits = as_uint(x);
  return as_float(isnan(x) ? (bits | 0x400000u) & 0xffff0000u : (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
})"},
    {"rlx_round_f8e4m3fn",
     {},
     "float rlx_round_f8e4m3fn(float x) { return rlx_round_small(x, 20, 0x1p-6f, 0x1p14f, 448.0f, NAN); }"},
    {"rlx_round_f8e5m2",
     {},
     "float rlx_round_f8e5m2(float x) { return rlx_round_small(x, 21, 0x1p-14f, 0x1p7f, 57344.0f, INFINITY); }"},
    // The fnuz types have one zero. Adding 0 turns -0 into 0.
    {"rlx_round_f8e4m3fnuz",
     {},
     "float rlx_round_f8e4m3fnuz(float x) { return rlx_round_small(x, 20, 0x1p-7f, 0x1p13f, 240.0f, NAN) + 0.0f; }"},
    {"rlx_round_f8e5m2fnuz",
     {},
     "float rlx_round_f8e5m2fnuz(float x) { return rlx_round_small(x, 21, 0x1p-15f, 0x1p6f, 57344.0f, NAN) + 0.0f; }"},

    // Codes of values that are already rounded: sign, exponent field and mantissa cut from the float, or the count of
    // subnormal places.
    {"rlx_small_bits", {}, R"(uchar rlx_small_bits(float x, uint drop, uint bias, float min_normal, float places) {
  const float a = fabs(x);
  const uint code = a < min_normal ? (uint)(a * places) : (as_uint(a) >> drop) - ((127 - bias) << (23 - drop));
  return (uchar)(code | (signbit(x) ? 0x80u : 0u));
})"},
    {"rlx_small_value", {}, R"(float rlx_small_value(uchar bits, uint drop, uint bias, float place) {
  const uint code = bits & 0x7fu;
  const float a = code >> (23 - drop) ? as_float((code + ((127 - bias) << (23 - drop))) << drop) : (float)code * place;
  return bits & 0x80u ? -a : a;
})"},
    {"rlx_f8e4m3fn_bits", {}, R"(uchar rlx_f8e4m3fn_bits(float x) {
  return isnan(x) ? (uchar)(0x7f | (signbit(x) ? 0x80 : 0)) : rlx_small_bits(x, 20, 7, 0x1p-6f, 0x1p9f);
})"},
    {"rlx_f8e4m3fn_value", {}, R"(float rlx_f8e4m3fn_value(uchar bits) {
  return (bits & 0x7f) == 0x7f ? as_float(0x7fc00000u | (uint)(bits & 0x80) << 24) : rlx_small_value(bits, 20, 7, 0x1p-9f);
})"},
    {"rlx_f8e5m2_bits", {}, R"(uchar rlx_f8e5m2_bits(float x) {
  const uchar sign = signbit(x) ? 0x80 : 0;
  return isnan(x) ? (uchar)(0x7e | sign) : isinf(x) ? (uchar)(0x7c | sign) : rlx_small_bits(x, 21, 15, 0x1p-14f, 0x1p16f);
})"},
    {"rlx_f8e5m2_value", {}, R"(float rlx_f8e5m2_value(uchar bits) {
  const uint special = (bits & 0x7f) > 0x7c ? 0x7fc00000u : 0x7f800000u;
  return (bits & 0x7c) == 0x7c ? as_float(special | (uint)(bits & 0x80) << 24) : rlx_small_value(bits, 21, 15, 0x1p-16f);
})"},
    {"rlx_f8e4m3fnuz_bits",
     {},
     "uchar rlx_f8e4m3fnuz_bits(float x) { return isnan(x) ? (uchar)0x80 : rlx_small_bits(x, 20, 8, 0x1p-7f, 0x1p10f); "
     "}"},
    {"rlx_f8e4m3fnuz_value",
     {},
     "float rlx_f8e4m3fnuz_value(uchar bits) { return bits == 0x80 ? NAN : rlx_small_value(bits, 20, 8, 0x1p-10f); }"},
    {"rlx_f8e5m2fnuz_bits",
     {},
     "uchar rlx_f8e5m2fnuz_bits(float x) { return isnan(x) ? (uchar)0x80 : rlx_small_bits(x, 21, 16, 0x1p-15f, "
     "0x1p17f); }"},
    {"rlx_f8e5m2fnuz_value",
     {},
     "float rlx_f8e5m2fnuz_value(uchar bits) { return bits == 0x80 ? NAN : rlx_small_value(bits, 21, 16, 0x1p-17f); }"},
    {"rlx_f16_bits", {}, "ushort rlx_f16_bits(float x) { ushort bits; vstore_half(x, 0, (half*)&bits); return bits; }"},
    {"rlx_f16_value", {}, "float rlx_f16_value(ushort bits) { return vload_half(0, (const half*)&bits); }"},

    // Rounding to odd: truncate, and set the last bit if anything was cut. A later rounding to nearest of at least two
    // bits
    // fewer then gives what one rounding of the exact value gives (Boldo and Melquiond, "Emulation of FMA and correctly
    // rounded sums: proved algorithms using rounding to odd", 2008).
    {"rlx_odd", {}, R"(float rlx_odd(double x) {
  const float near = (float)x;
  if (isnan(x) || (double)near == x) return near;
  const float cut = fabs((double)near) > fabs(x) ? as_float(as_uint(near) - 1) : near;
  return as_float(as_uint(cut) | 1u);
})"},
    // 64-bit integers: the bits that a double cannot hold are gathered in its last one first.
    {"rlx_odd_{D}", wide_integers, R"(float rlx_odd_{D}({T} x) {
  const ulong m = x < 0 ? 0 - (ulong)x : (ulong)x;
  const double a = (double)(m > 0xffffffffful ? (m & ~0x7fful) | (ulong)((m & 0x7ff) != 0) << 11 : m);
  return rlx_odd(x < 0 ? -a : a);
})"},
    // As XLA does it, on the code of the operand's own type: the mantissa rounds to nearest even where it stands, then
    // an
    // exponent that the reduced range lacks (its ends are reserved) gives infinity or zero.
    {"rlx_reduce_bits", {}, R"(ulong rlx_reduce_bits(ulong bits, int mantissa, int exponent, int e, int m) {
  const ulong sign = 1ul << (mantissa + exponent), infinity = ((1ul << exponent) - 1) << mantissa;
  ulong code = bits & (sign - 1);
  if (code >= infinity) return bits;
  if (m < mantissa) {
    const int drop = mantissa - m;
    code += (1ul << (drop - 1)) - 1 + (code >> drop & 1ul);
    code = code >> drop << drop;
  }
  if (e < exponent) {
    const int power = (int)(code >> mantissa) - ((1 << (exponent - 1)) - 1), range = (1 << (e - 1)) - 1;
    if (power > range) code = infinity;
    if (power <= -range) code = 0;
  }
  return code | (bits & sign);
})"},
    {"rlx_store_i4", {}, R"(void rlx_store_i4(__global uchar* p, long i, char v) {
  const ulong address = (ulong)p + (ulong)(i >> 1);
  volatile __global uint* word = (volatile __global uint*)(address & ~3ul);
  const uint shift = (uint)(address & 3ul) * 8 + (uint)(i & 1) * 4;
  uint old = *word, seen;
  do {
    seen = old;
    old = atomic_cmpxchg(word, seen, (seen & ~(15u << shift)) | ((uint)v & 15u) << shift);
  } while (old != seen);
})"},
};

}  // namespace

constinit const std::span<const Helper> number_helpers = numbers_table;

}  // namespace rlx::oneapi
