// Conversions between element types: to nearest even; integers wrap; floats to integers truncate and saturate, NaN to 0.
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

V from_integer(Ir& ir, const Machine& machine, V x, bool is_signed, DType to) {
  if (is_floating(to)) {
    // Through f64, which holds 32 bits exactly; more are rounded to odd there by nobody, 2^-53 away from a tie at most.
    const bool direct = to == DType::f32 || to == DType::f64;
    const LLVMTypeRef t = to == DType::f32 ? ir.f32 : ir.f64;
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

V reduce_precision(V x, int exponent_bits, int mantissa_bits) {
  const bool wide = is_f64(x);
  const int mantissa = wide ? 52 : 23, bias = wide ? 1023 : 127;
  V bits = as_bits(x);
  const int cut = mantissa - mantissa_bits;
  if (cut > 0) {
    const V odd = bits_and(lshr(bits, cut), 1);
    const std::int64_t below_half = (std::int64_t{1} << (cut - 1)) - 1;
    bits = bits_and(bits + odd + bits.ir->integer(bits.type(), below_half), -(std::int64_t{1} << cut));
  }
  V y = as_float(bits);
  const int narrow_bias = (1 << (exponent_bits - 1)) - 1;
  if (narrow_bias < bias) {
    const V size = abs(y);
    const double limit = __builtin_ldexp(1.0, narrow_bias + 1), smallest = __builtin_ldexp(1.0, 1 - narrow_bias);
    y = select(ge(size, limit), copysign(number(y, __builtin_inf()), y), y);
    y = select(lt(size, smallest), copysign(number(y, 0.0), y), y);
  }
  return select(is_nan(x), x, select(eq(abs(x), __builtin_inf()), x, y));
}

}  // namespace rlx::emit_llvm
