#include "transform/fold.hpp"

#include <rlx/ops/attributes/shape.hpp>
#include <rlx/ops/attributes/source.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rlx::transform {
namespace {

/// The node that makes `x`, if it is `op`.
const Node* made_by(Value x, std::string_view op) {
  const Graph& g = x.builder->graph();
  const NodeId n = g.value(x.id).node;
  return n >= 0 && g.node(n).op->name() == op ? &g.node(n) : nullptr;
}
Value operand(Value x, const Node& n, std::size_t i = 0) { return {x.builder, n.operands[i]}; }

bool is_scalar(Value x) {
  const auto* t = std::get_if<TensorType>(&x.type());
  return t && t->is_scalar();
}

/// Exact on every device: no rounding that a device might do otherwise. Sums and products of floats are rounded once
/// everywhere, but small and flushed results are not the same on all, so that only normal numbers are folded.
bool is_exact(std::string_view op, DType t) {
  static constexpr std::string_view always[] = {"neg", "and", "or",  "xor",  "not",  "compare", "select",
                                                "min", "max", "abs", "conj", "real", "imag"};
  static constexpr std::string_view rounded[] = {"add", "sub", "mul", "convert"};
  if (std::find(std::begin(always), std::end(always), op) != std::end(always)) return true;
  return !is_complex(t) && std::find(std::begin(rounded), std::end(rounded), op) != std::end(rounded);
}
bool is_ordinary(const HostTensor& x) {
  if (!is_floating(x.dtype())) return true;
  const double v = std::abs(x.get_f64(0));
  return v == 0 || (v > 1e-4 && v < 1e4);
}

std::optional<HostTensor> evaluated(const Op& op, const AnyAttrs& attrs, ValuesIn operands, const Type& result) {
  HostValues in;
  for (const Value& v : operands) {
    std::optional<HostTensor> x = is_scalar(v) ? splat(v) : std::nullopt;
    if (!x || !is_exact(op.name(), x->dtype())) return std::nullopt;
    in.push_back(std::move(*x));
  }
  if (in.empty()) return std::nullopt;
  const Type types[] = {result};
  for (const HostValue& v : in)
    if (!is_ordinary(std::get<HostTensor>(v))) return std::nullopt;
  HostTensor y = std::get<HostTensor>(op.reference(attrs, {in, types, {}})[0]);
  return is_ordinary(y) ? std::optional(y) : std::nullopt;
}

bool equals(Value x, double v) {
  const auto s = splat(x);
  return s && !is_complex(s->dtype()) && s->get_f64(0) == v && std::signbit(s->get_f64(0)) == std::signbit(v);
}

bool is_real(Value x) { return !is_complex(x.dtype()); }

std::optional<Value> identity(std::string_view op, ValuesIn x) {
  if (op == "mul" && is_real(x[0])) {
    if (equals(x[1], 1)) return x[0];
    if (equals(x[0], 1)) return x[1];
  }
  if (op == "div" && is_real(x[0]) && equals(x[1], 1)) return x[0];
  // x - 0 and x + -0 keep every x, also -0; x + 0 does not.
  const double neutral = op == "sub" || is_integer(x[0].dtype()) ? 0.0 : -0.0;
  if ((op == "sub" || op == "add") && is_real(x[0])) {
    if (equals(x[1], neutral)) return x[0];
    if (op == "add" && equals(x[0], neutral)) return x[1];
  }
  if (op == "neg" || op == "not" || op == "conj")
    if (const Node* inner = made_by(x[0], op)) return operand(x[0], *inner);
  if (op == "select") {
    if (x[1].id == x[2].id) return x[1];
    if (const auto p = splat(x[0])) return p->get_i64(0) ? x[1] : x[2];
  }
  return std::nullopt;
}

std::optional<Value> elementwise(const Op& op, const AnyAttrs& attrs, ValuesIn x, const Type& result,
                                 const FoldEmit& emit) {
  if (x.empty()) return std::nullopt;
  if (const auto same = identity(op.name(), x)) return same;
  const auto& type = std::get<TensorType>(result);
  if (type.is_scalar()) {
    if (const auto y = evaluated(op, attrs, x, result)) return emit("constant", {}, ops::ConstantAttrs{*y});
    return std::nullopt;
  }
  // All elements are equal: one is computed and spread.
  Values scalars;
  for (const Value& v : x) {
    const auto s = splat(v);
    if (!s) return std::nullopt;
    scalars.push_back(emit("constant", {}, ops::ConstantAttrs{*s}));
  }
  const Value one = emit(op.name(), scalars, attrs);
  return emit("broadcast", {&one, 1}, ops::BroadcastAttrs{type.shape, {}});
}

std::vector<int> counting(std::size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}
/// list of (x after an inner one of `inner`).
std::vector<int> composed(const std::vector<int>& outer, const std::vector<int>& inner) {
  std::vector<int> v;
  for (int i : inner) v.push_back(outer[static_cast<std::size_t>(i)]);
  return v;
}

std::optional<Value> moved(std::string_view op, const AnyAttrs& attrs, Value x, const TensorType& result,
                           const FoldEmit& emit) {
  const bool same_shape = x.shape() == result.shape;
  if (op == "broadcast") {
    const auto& a = attrs.as<ops::BroadcastAttrs>();
    if (same_shape && a.axes == counting(a.axes.size())) return x;
    if (const Node* inner = made_by(x, "broadcast")) {
      const Value source = operand(x, *inner);
      return emit(op, {&source, 1},
                  ops::BroadcastAttrs{a.shape, composed(a.axes, inner->attrs.as<ops::BroadcastAttrs>().axes)});
    }
    return std::nullopt;
  }
  if (op == "reshape" && same_shape) return x;
  if (op == "transpose" && attrs.as<ops::TransposeAttrs>().permutation == counting(x.shape().size())) return x;
  if (op == "convert" && x.dtype() == result.dtype) return x;
  if (op == "slice" && same_shape) {
    const auto& a = attrs.as<ops::SliceAttrs>();
    if (std::all_of(a.start.begin(), a.start.end(), [](const Dim& d) { return d == 0; }) &&
        std::all_of(a.stride.begin(), a.stride.end(), [](std::int64_t s) { return s == 1; }))
      return x;
  }
  if (op == "concat" && same_shape) return x;
  if ((op == "reshape" || op == "transpose" || op == "slice" || op == "reverse" || op == "concat") &&
      !result.is_scalar())
    if (const Node* wide = made_by(x, "broadcast"); wide && is_scalar(operand(x, *wide))) {
      const Value source = operand(x, *wide);
      return emit("broadcast", {&source, 1}, ops::BroadcastAttrs{result.shape, {}});
    }
  if (op == "reshape")
    if (const Node* inner = made_by(x, op)) {
      const Value source = operand(x, *inner);
      return emit(op, {&source, 1}, attrs);
    }
  if (op == "transpose")
    if (const Node* inner = made_by(x, op)) {
      const Value source = operand(x, *inner);
      const auto& first = inner->attrs.as<ops::TransposeAttrs>().permutation;
      return emit(op, {&source, 1}, ops::TransposeAttrs{composed(first, attrs.as<ops::TransposeAttrs>().permutation)});
    }
  return std::nullopt;
}

}  // namespace

std::optional<HostTensor> splat(Value x) {
  const Node* n = made_by(x, "constant");
  if (!n)
    if (const Node* wide = made_by(x, "broadcast")) return splat(operand(x, *wide));
  if (!n) return std::nullopt;
  const HostTensor& v = n->attrs.as<ops::ConstantAttrs>().value;
  return v.rank() == 0 ? std::optional(v) : std::nullopt;
}

std::optional<Value> fold(const Op& op, const AnyAttrs& attrs, ValuesIn operands, const Type& result,
                          const FoldEmit& emit) {
  const auto* type = std::get_if<TensorType>(&result);
  if (!type || type->layout || type->quantization || type->sharding) return std::nullopt;
  for (const Value& v : operands) {
    const auto* t = std::get_if<TensorType>(&v.type());
    if (!t || t->layout || t->quantization || t->sharding) return std::nullopt;
  }
  std::optional<Value> out;
  if (op.has_trait(Trait::elementwise)) out = elementwise(op, attrs, operands, result, emit);
  if (!out && operands.size() == 1) out = moved(op.name(), attrs, operands[0], *type, emit);
  return out && out->type() == result ? out : std::nullopt;
}

}  // namespace rlx::transform
