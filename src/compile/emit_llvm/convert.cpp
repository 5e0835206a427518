// Conversions between element types: to nearest even; integers wrap; floats to integers truncate and saturate, NaN to
// 0.
#include "compile/emit_llvm/elementwise.hpp"

namespace rlx::emit_llvm {

V round_to_type(Ir& ir, const Machine& machine, DType t, V x) {
  if (t == DType::f64) return to_f64(x);
  if (t == DType::f32) return is_f64(x) ? to_f32(x) : x;
  const V narrow = is_f64(x) ? to_float_odd(x) : x;
  return from_storage(ir, machine, t, to_storage(ir, machine, t, narrow));
}

namespace {

V from_float(Ir& ir, const Machine& machine, V x, DType to) {
  if (float8.contains(to)) return float_to_float8(to, is_f64(x) ? to_float_odd(x) : x);
  if (is_floating(to)) return round_to_type(ir, machine, to, x);
  if (to == DType::boolean) return ne(x, number(x, 0.0));
  const bool is_signed = is_signed_integer(to);
  const bool nibble = to == DType::i4;
  const LLVMTypeRef t = Ir::shaped(register_type(ir, to), x.type());
  V y = ir.intrinsic(is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", {t, x.type()}, {x});
  if (nibble) y = ir.binary("llvm.smin", ir.binary("llvm.smax", y, number(y, -8)), number(y, 7));
  return y;
}

/// x if below 2^53 in size, else x with its low 11 bits folded into the one above: a value of f64 that rounds further
/// as x does (Boldo and Melquiond, as in to_float_odd).
V short_integer(V x, bool is_signed) {
  const V high = is_signed ? ashr(x, 53) : lshr(x, 53);
  const V fits = is_signed ? eq(high, 0.0) | eq(high, -1.0) : eq(high, 0.0);
  const V kept = bits_and(x, ~std::int64_t{2047});
  return select(fits, x, select(eq(kept, x), x, bits_or(kept, 2048)));
}

V from_integer(Ir& ir, const Machine& machine, V x, bool is_signed, DType to) {
  if (is_floating(to)) {
    // Narrow ones through f64, which holds 53 bits exactly; of larger integers the low bits are rounded to odd first.
    const bool direct = to == DType::f32 || to == DType::f64;
    const LLVMTypeRef t = to == DType::f32 ? ir.f32 : ir.f64;
    if (!direct && Ir::bits(x.type()) == 64) x = short_integer(x, is_signed);
    const V f = is_signed ? signed_to_float(x, t) : unsigned_to_float(x, t);
    return direct ? f : from_float(ir, machine, f, to);
  }
  if (to == DType::boolean) return ne(x, number(x, 0));
  V y = is_signed ? resize_signed(x, register_type(ir, to)) : resize_unsigned(x, register_type(ir, to));
  if (to == DType::i4) y = ashr(shl(y, 4), 4);
  return y;
}

}  // namespace

Val convert(Ir& ir, const Machine& machine, const Val& x, DType to) {
  const DType from = x.dtype;
  if (from == to) return x;
  if (is_complex(to)) {
    const DType part = real_of(to);
    const Val re = convert(ir, machine, {real_of(from), x.re}, part);
    const V im = x.im ? convert(ir, machine, {real_of(from), x.im}, part).re : ir.zero(re.re.type());
    return {to, re.re, im};
  }
  if (is_complex(from)) {
    if (to == DType::boolean) return {to, ne(x.re, number(x.re, 0.0)) | ne(x.im, number(x.im, 0.0))};
    return convert(ir, machine, {real_of(from), x.re}, to);
  }
  if (float8.contains(from)) return {to, from_float(ir, machine, float8_to_float(from, x.re), to)};
  if (is_floating(from)) return {to, from_float(ir, machine, x.re, to)};
  if (from == DType::boolean) return {to, from_integer(ir, machine, resize_unsigned(x.re, ir.i8), false, to)};
  return {to, from_integer(ir, machine, x.re, is_signed_integer(from), to)};
}

V reduce_precision(Ir& ir, const Machine& machine, DType t, V x, int exponent_bits, int mantissa_bits) {
  // On the code of the type itself, so that its subnormals lose what that type would lose.
  V bits = to_storage(ir, machine, t, x);
  if (Ir::is_float(bits.type())) bits = as_bits(bits);
  const int width = bit_width(t), mantissa = t == DType::f16 ? 10 : t == DType::bf16 ? 7 : t == DType::f32 ? 23 : 52;
  const int exponent = width - 1 - mantissa, cut = mantissa - mantissa_bits;
  auto constant = [&](std::int64_t v) { return ir.integer(bits.type(), v); };
  const std::int64_t infinity = ((std::int64_t{1} << exponent) - 1) << mantissa;
  const std::int64_t magnitude = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - width));
  const V size = bits & constant(magnitude), sign = bits ^ size;
  V code = size;
  if (cut > 0) {
    const std::int64_t below_half = (std::int64_t{1} << (cut - 1)) - 1;
    code = (code + (bits_and(lshr(code, cut), 1) + constant(below_half))) & constant(-(std::int64_t{1} << cut));
  }
  if (exponent_bits < exponent) {
    const std::int64_t bias = (std::int64_t{1} << (exponent - 1)) - 1,
                       range = (std::int64_t{1} << (exponent_bits - 1)) - 1;
    code = select(lt(code, constant((bias + range + 1) << mantissa)), code, constant(infinity));
    code = select(lt(code, constant((bias - range + 1) << mantissa)), constant(0), code);
  }
  bits = select(lt(size, constant(infinity)), code, size) | sign;
  return is_floating(t) && width >= 32 ? as_float(bits) : from_storage(ir, machine, t, bits);
}

}  // namespace rlx::emit_llvm
