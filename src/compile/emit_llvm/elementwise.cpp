#include "compile/emit_llvm/elementwise.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/elementwise.hpp>

#include <algorithm>

namespace rlx::emit_llvm {

LLVMTypeRef register_type(Ir& ir, DType t) {
  switch (t) {
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::c64:
      return ir.f32;
    case DType::f64:
    case DType::c128:
      return ir.f64;
    case DType::boolean:
      return ir.i1;
    case DType::i4:
      return ir.i8;
    default:
      return LLVMIntTypeInContext(ir.c, static_cast<unsigned>(bit_width(t)));
  }
}
LLVMTypeRef storage_type(Ir& ir, DType t) {
  switch (t) {
    case DType::f16:
    case DType::bf16:
      return ir.i16;
    case DType::boolean:
      return ir.i8;
    default:
      return register_type(ir, t);
  }
}
V from_storage(Ir& ir, const Machine& machine, DType t, V x) {
  if (t == DType::f16) return half_to_float(ir, machine, x);
  if (t == DType::bf16) return bfloat_to_float(x);
  if (t == DType::boolean) return ne(x, number(x, 0));
  return x;
}
V to_storage(Ir& ir, const Machine& machine, DType t, V x) {
  if (t == DType::f16) return float_to_half(ir, machine, x);
  if (t == DType::bf16) return float_to_bfloat(x);
  if (t == DType::boolean) return resize_unsigned(x, ir.i8);
  return x;
}

namespace {

V compare_values(ops::Direction d, V a, V b, bool is_unsigned) {
  using ops::Direction;
  const bool flip = d == Direction::gt || d == Direction::ge;
  if (flip) std::swap(a, b);
  if (d == Direction::eq) return eq(a, b);
  if (d == Direction::ne) return ne(a, b);
  const bool strict = d == Direction::lt || d == Direction::gt;
  if (Ir::is_float(a.type()) || !is_unsigned) return strict ? lt(a, b) : le(a, b);
  return strict ? ult(a, b) : ~ult(b, a);
}

/// Contraction of x + y, x - y where one of them is a product without other use.
V contracted(std::string_view op, std::span<const Val> in) {
  const bool minus = op == "sub";
  const Val& a = in[0];
  const Val& b = in[1];
  if (a.factor_a) return fma(a.factor_a, a.factor_b, minus ? -b.re : b.re);
  if (b.factor_a) return fma(minus ? -b.factor_a : b.factor_a, b.factor_b, a.re);
  return {};
}

/// Whether an f16 or bf16 result needs no rounding, because it is one of the operands or exact.
bool keeps_precision(std::string_view op) {
  static constexpr std::string_view exact[] = {"neg", "abs", "sign",  "floor", "ceil", "round",
                                               "min", "max", "clamp", "real",  "conj", "imag"};
  return std::find(std::begin(exact), std::end(exact), op) != std::end(exact);
}

V bits_of(Ir& ir, const Machine& machine, const Val& x) {
  if (x.im) return resize_unsigned(as_bits(x.re), ir.i64) | shl(resize_unsigned(as_bits(x.im), ir.i64), 32);  // c64
  const V bits = to_storage(ir, machine, x.dtype, x.re);
  return Ir::is_float(bits.type()) ? as_bits(bits) : bits;
}
Val bitcast(Ir& ir, const Machine& machine, const Val& x, DType to) {
  if (to == x.dtype) return x;  // the only case of c128 and i4
  const V bits = bits_of(ir, machine, x);
  if (to == DType::c64)
    return {to, as_float(resize_unsigned(bits, ir.i32)), as_float(resize_unsigned(lshr(bits, 32), ir.i32))};
  if (to == DType::f32 || to == DType::f64) return {to, as_float(bits)};
  return {to, from_storage(ir, machine, to, bits)};
}

Val complex_result(const Node& n, std::string_view op, std::span<const Val> in) {
  std::vector<Complex> x;
  for (const Val& v : in) x.push_back({v.re, v.im});
  bool done = true;
  const Complex r = complex_operator(op, x, done);
  if (!done) refuse(op, "no code for " + std::string(name(in[0].dtype)) + n.location.to_string());
  return {r.im ? in[0].dtype : real_of(in[0].dtype), r.re, r.im};
}

}  // namespace

Val elementwise(Ir& ir, const Machine& machine, const Node& n, std::span<const Val> in) {
  const std::string_view op = n.op->name();
  if (in.empty()) refuse(op, "not an operator of kernel bodies");
  const DType t = in[0].dtype;
  if (op == "convert") return convert(ir, machine, in[0], n.attrs.as<ops::DTypeAttrs>().dtype);
  if (op == "bitcast") return bitcast(ir, machine, in[0], n.attrs.as<ops::DTypeAttrs>().dtype);
  if (op == "select") {
    Val r{in[1].dtype, select(in[0].re, in[1].re, in[2].re)};
    if (in[1].im) r.im = select(in[0].re, in[1].im, in[2].im);
    return r;
  }
  if (op == "complex") return {t == DType::f64 ? DType::c128 : DType::c64, in[0].re, in[1].re};
  if (op == "compare") {
    const ops::Direction d = n.attrs.as<ops::CompareAttrs>().direction;
    if (float8.contains(t)) refuse(op, "f8 values must be converted first");
    if (!is_complex(t))
      return {DType::boolean, compare_values(d, in[0].re, in[1].re, is_unsigned_integer(t) || t == DType::boolean)};
    if (d != ops::Direction::eq && d != ops::Direction::ne) refuse(op, "complex numbers have no order");
    const V same = eq(in[0].re, in[1].re) & eq(in[0].im, in[1].im);
    return {DType::boolean, d == ops::Direction::eq ? same : ~same};
  }
  if (is_complex(t)) return complex_result(n, op, in);
  if (op == "reduce_precision") {
    const auto& a = n.attrs.as<ops::ReducePrecisionAttrs>();
    return {t, reduce_precision(ir, machine, t, in[0].re, a.exponent_bits, a.mantissa_bits)};
  }
  std::vector<V> x;
  for (const Val& v : in) x.push_back(v.re);
  if (is_floating(t) && !float8.contains(t)) {
    V r;
    if ((op == "add" || op == "sub") && in.size() == 2) r = contracted(op, in);
    if (op == "fma" && bit_width(t) < 32) r = fma_odd(x[0], x[1], x[2]);
    if (!r) r = float_operator(op, x);
    if (!r) refuse(op, "no code for " + std::string(name(t)));
    if (Ir::element(r.type()) == ir.i1) return {DType::boolean, r};
    return {t, bit_width(t) < 32 && !keeps_precision(op) ? round_to_type(ir, machine, t, r) : r};
  }
  if (is_integer(t)) {
    V r = integer_operator(op, x, is_signed_integer(t));
    if (!r || (t == DType::i4 && (op == "clz" || op == "popcount" || op.starts_with("shift"))))
      refuse(op, "no code for " + std::string(name(t)));
    if (t == DType::i4) r = ashr(shl(r, 4), 4);
    return {t, r};
  }
  if (t == DType::boolean) {
    const V r = boolean_operator(op, x);
    if (!r) refuse(op, "no code for bool");
    return {t, r};
  }
  refuse(op, "no code for " + std::string(name(t)));
}

}  // namespace rlx::emit_llvm
