// Scalar operators for kernel bodies built by hand: names and result types only, no meaning. What they must compute is
// said by the tests themselves, so that emitters are not compared with the same code that the operators' references
// use.
#pragma once
#include <rlx/compile/lir.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/registry.hpp>
#include <rlx/ops/attributes/elementwise.hpp>
#include <rlx/ops/attributes/source.hpp>

#include <deque>
#include <functional>

namespace rlx::test {

inline constexpr Operand scalar_operands[] = {{"x", storable, OperandKind::tensor, true}};

template <class A>
Types like_last(const A&, const Signature& s) {
  return {TensorType{s.dtype(s.size() - 1)}};
}
template <class A>
Types as_bool(const A&, const Signature&) {
  return {TensorType{DType::boolean}};
}
template <class A>
Types real_part(const A&, const Signature& s) {
  return {TensorType{real_of(s.dtype(0))}};
}
inline Types pair_of(const NoAttributes&, const Signature& s) {
  return {TensorType{s.dtype(0) == DType::f64 ? DType::c128 : DType::c64}};
}
inline Types as_asked(const ops::DTypeAttrs& a, const Signature&) { return {TensorType{a.dtype}}; }
inline Types of_value(const ops::ConstantAttrs& a, const Signature&) { return {TensorType{a.value.dtype()}}; }

/// Definitions live as long as the program.
template <class A>
void add_scalar(Registry& r, const std::string& name, Types (*infer)(const A&, const Signature&),
                Trait traits = Trait::elementwise) {
  static std::deque<std::string> names;
  static std::deque<OpDef<A>> definitions;
  if (r.find(name)) return;
  constexpr Never none{"of a test"};
  const std::string& kept = names.emplace_back(name);
  r.add(definitions.emplace_back(
      OpDef<A>{.name = std::string_view(kept),
               .doc = "of a test",
               .operands = scalar_operands,
               .constraints = {},
               .infer = infer,
               .meaning = Extern<A>{[](const A&, const ReferenceCall&) -> HostValues { return {}; }},
               .vjp = none,
               .jvp = none,
               .batch = none,
               .shard = none,
               .cost = none,
               .samples = [] { return std::vector<Sample<A>>{}; },
               .traits = traits}));
}

inline Registry make_scalar_registry() {
  Registry r;
  lir::register_ops(r);
  for (const char* op : {"neg",
                         "sign",
                         "exp",
                         "log",
                         "expm1",
                         "log1p",
                         "sqrt",
                         "rsqrt",
                         "cbrt",
                         "sin",
                         "cos",
                         "tan",
                         "asin",
                         "acos",
                         "atan",
                         "sinh",
                         "cosh",
                         "tanh",
                         "erf",
                         "erfc",
                         "erfinv",
                         "lgamma",
                         "digamma",
                         "floor",
                         "ceil",
                         "round",
                         "not",
                         "popcount",
                         "clz",
                         "conj",
                         "add",
                         "sub",
                         "mul",
                         "div",
                         "rem",
                         "pow",
                         "atan2",
                         "min",
                         "max",
                         "and",
                         "or",
                         "xor",
                         "shift_left",
                         "shift_right_logical",
                         "shift_right_arithmetic",
                         "fma",
                         "select",
                         "clamp"})
    add_scalar<NoAttributes>(r, op, like_last<NoAttributes>);
  for (const char* op : {"is_nan", "is_finite"}) add_scalar<NoAttributes>(r, op, as_bool<NoAttributes>);
  for (const char* op : {"abs", "real", "imag"}) add_scalar<NoAttributes>(r, op, real_part<NoAttributes>);
  add_scalar<NoAttributes>(r, "complex", pair_of);
  add_scalar<ops::CompareAttrs>(r, "compare", as_bool<ops::CompareAttrs>);
  add_scalar<ops::DTypeAttrs>(r, "convert", as_asked);
  add_scalar<ops::DTypeAttrs>(r, "bitcast", as_asked);
  add_scalar<ops::ReducePrecisionAttrs>(r, "reduce_precision", like_last<ops::ReducePrecisionAttrs>);
  add_scalar<ops::ConstantAttrs>(r, "constant", of_value, Trait::constant);
  return r;
}
inline const Registry& scalar_registry() {
  static const Registry r = make_scalar_registry();
  return r;
}

inline TensorType device_buffer(DType t, std::int64_t n) { return {t, {n}, Space::device}; }

/// Words for kernel bodies.
struct Body {
  Builder& b;
  Value i64(std::int64_t v) const {
    return b.emit1("constant", {}, ops::ConstantAttrs{HostTensor::scalar_i64(DType::i64, v)});
  }
  Value constant(DType t, double v) const {
    return b.emit1("constant", {}, ops::ConstantAttrs{HostTensor::scalar(t, v)});
  }
  Value add(Value x, Value y) const { return b.emit1("add", {x, y}); }
  Value mul(Value x, Value y) const { return b.emit1("mul", {x, y}); }
  Value load(Value buffer, Value i) const { return b.emit1("lir.load", {buffer, i}); }
  void store(Value buffer, Value i, Value v) const { b.emit("lir.store", {buffer, i, v}); }
  Value compare(Value x, Value y, ops::Direction d) const { return b.emit1("compare", {x, y}, ops::CompareAttrs{d}); }
  Value convert(Value x, DType t) const { return x.dtype() == t ? x : b.emit1("convert", {x}, ops::DTypeAttrs{t}); }
};

/// One kernel: `fill` gets the words, the indices and the buffers.
inline void kernel(Builder& b, lir::KernelAttrs attrs, const Values& buffers,
                   const std::function<void(const Body&, ValuesIn indices, ValuesIn buffers)>& fill) {
  const std::size_t indices = attrs.extents.size() + attrs.team.size();
  const RegionBody body = [&](ValuesIn arguments) -> Values {
    fill(Body{b}, arguments.subspan(0, indices), arguments.subspan(indices));
    return {};
  };
  b.emit("lir.kernel", buffers, std::move(attrs), {&body, 1});
}

}  // namespace rlx::test
