// Floats of 16 and 8 bits. Widening multiplies the shifted code, read as a tiny float, by a power of two, which also
// normalises subnormals; narrowing rounds to even by adding just under half of the last kept bit, or, for subnormals,
// by adding a power of two whose last bit is theirs (both known as "magic" conversions; F. Giesen, 2012).
#include "compile/emit_llvm/elementwise.hpp"

namespace rlx::emit_llvm {

namespace {

/// As in ir/small_float.cpp: codes up to max_finite are finite magnitudes.
struct Format {
  int mantissa, bias, max_finite, overflow, nan;
  bool fnuz;
};
Format format_of(DType t) {
  switch (t) {
    case DType::f8e4m3fn:
      return {3, 7, 0x7e, 0x7f, 0x7f, false};
    case DType::f8e5m2:
      return {2, 15, 0x7b, 0x7c, 0x7e, false};
    case DType::f8e4m3fnuz:
      return {3, 8, 0x7f, 0x80, 0x80, true};
    case DType::f8e5m2fnuz:
      return {2, 16, 0x7f, 0x80, 0x80, true};
    default:
      return {10, 15, 0x7bff, 0x7c00, 0x7e00, false};  // f16
  }
}

V float_bits(V like, std::int64_t bits) {
  return as_float(like.ir->integer(Ir::shaped(like.ir->i32, like.type()), bits));
}

V decode(const Format& f, V code, int width) {
  Ir& ir = *code.ir;
  const V wide = resize_unsigned(code, ir.i32);
  const int sign_bit = 1 << (width - 1);
  const V magnitude = bits_and(wide, sign_bit - 1), sign = shl(bits_and(wide, sign_bit), 32 - width);
  const V scale = float_bits(wide, std::int64_t{127 + 127 - f.bias} << 23);
  V x = as_bits(as_float(shl(magnitude, 23 - f.mantissa)) * scale);
  if (f.fnuz) x = select(eq(wide, static_cast<double>(f.nan)), 0x7fc00000, x);
  else {
    const V special = gt(magnitude, static_cast<double>(f.max_finite));
    const V infinite = f.overflow != f.nan ? eq(magnitude, static_cast<double>(f.overflow)) : V{};
    const V nan = number(x, 0x7fc00000);
    x = select(special, infinite ? select(infinite, number(x, 0x7f800000), nan) : nan, x);
  }
  return as_float(x | sign);
}

/// Code in an i32; the sign is in bit width - 1.
V encode(const Format& f, V x, int width) {
  const V bits = as_bits(x), a = bits_and(bits, 0x7fffffff), sign = bits_and(lshr(bits, 32 - width), 1 << (width - 1));
  const int cut = 23 - f.mantissa;
  const std::int64_t magic = std::int64_t{127 + 1 - f.bias + cut} << 23;
  const V tiny = as_bits(as_float(a) + float_bits(bits, magic)) - static_cast<double>(magic);
  const V odd = bits_and(lshr(a, cut), 1);
  const V normal =
      lshr(a + bits.ir->integer(bits.type(), (std::int64_t{f.bias - 127} << 23) + (1 << (cut - 1)) - 1) + odd, cut);
  V code = select(lt(a, static_cast<double>(std::int64_t{127 + 1 - f.bias} << 23)), tiny, normal);
  code = select(gt(code, static_cast<double>(f.max_finite)), static_cast<double>(f.overflow), code);
  code = select(gt(a, 0x7f800000), static_cast<double>(f.nan), code);
  if (f.fnuz) return select(eq(code, static_cast<double>(f.nan)) | eq(code, 0.0), code, code | sign);
  return code | sign;
}

bool has_f16c(const Machine& m) { return m.isa != Isa::generic; }

}  // namespace

V half_to_float(Ir& ir, const Machine& machine, V bits16) {
  if (!has_f16c(machine)) return decode(format_of(DType::f16), bits16, 16);
  // The fence keeps LLVM from narrowing what follows to half, which it would then widen again lane by lane; its half
  // min and max lose NaN besides (LLVM 19).
  const V x = to_f32(ir.wrap(LLVMBuildBitCast(ir.b, bits16.v, Ir::shaped(ir.half, bits16.type()), "")));
  return ir.unary("llvm.arithmetic.fence", x);
}
V float_to_half(Ir& ir, const Machine& machine, V x) {
  if (!has_f16c(machine)) return resize_unsigned(encode(format_of(DType::f16), x, 16), ir.i16);
  return as_bits(ir.wrap(LLVMBuildFPTrunc(ir.b, x.v, Ir::shaped(ir.half, x.type()), "")));
}

V bfloat_to_float(V bits16) { return as_float(shl(resize_unsigned(bits16, bits16.ir->i32), 16)); }
V float_to_bfloat(V x) {
  const V bits = as_bits(x);
  const V rounded = lshr(bits + bits_and(lshr(bits, 16), 1) + 0x7fff, 16);
  return resize_unsigned(select(is_nan(x), bits_or(lshr(bits, 16), 0x40), rounded), x.ir->i16);
}

V float8_to_float(DType t, V code) { return decode(format_of(t), code, 8); }
V float_to_float8(DType t, V x) { return resize_unsigned(encode(format_of(t), x, 8), x.ir->i8); }

// Boldo and Melquiond, When double rounding is odd (2004): round to odd, then to the narrow type.
V to_float_odd(V x) {
  const V y = to_f32(x), back = to_f64(y), bits = as_bits(y);
  // Towards zero first: the neighbour of smaller magnitude where y lies outside.
  const V outside = gt(abs(back), abs(x));
  const V down = select(outside, bits - 1, bits);
  const V inexact = ne(back, x) & ~is_nan(x);
  return as_float(select(inexact, bits_or(down, 1), bits));
}

// The product is exact, the sum's error is Knuth's, and an inexact sum with an even last bit steps towards it (Boldo
// and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
V fma_odd(V x, V y, V z) {
  const V a = to_f64(x) * to_f64(y), b = to_f64(z);
  const V sum = a + b, back = sum - a, error = (a - (sum - back)) + (b - back);
  const V bits = as_bits(sum), even = eq(bits_and(bits, 1), 0.0);
  // An error of infinities is NaN, which compares with nothing.
  const V step = select(eq(lt(error, 0.0), lt(sum, 0.0)), number(bits, 1), number(bits, -1));
  return as_float(select(gt(abs(error), 0.0) & even, bits + step, bits));
}

}  // namespace rlx::emit_llvm
