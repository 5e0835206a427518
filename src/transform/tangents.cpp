#include "transform/tangents.hpp"

#include "transform/fold.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ops/build.hpp>

#include <optional>

namespace rlx::transform {
namespace {

Values parts(Value a) { return a.builder->emit("sparse.parts", {a}); }

Value assembled(ValuesIn structure, Value values, const SparseType& t) {
  return values.builder->emit1("sparse.assemble", {structure[0], structure[1], values}, ops::AssembleAttrs{t.shape[1]});
}

bool same_kind(const Type& a, const Type& b) {
  const auto *x = std::get_if<TensorType>(&a), *y = std::get_if<TensorType>(&b);
  return x && y ? x->dtype == y->dtype && x->shape == y->shape : a == b;
}

/// The node that makes `x`, if it is `op`; by value, for the graph grows.
std::optional<Node> maker_of(Value x, std::string_view op) {
  const Graph& g = x.builder->graph();
  const NodeId n = g.value(x.id).node;
  return n >= 0 && g.node(n).op->name() == op ? std::optional(g.node(n)) : std::nullopt;
}
Values operands(Value of, const Node& n) {
  Values out;
  for (ValueId v : n.operands) out.push_back({of.builder, v});
  return out;
}
bool is_zero(Value x) {
  const auto s = splat(x);
  return s && (is_complex(s->dtype()) ? s->get_c128(0) == 0.0 : s->get_f64(0) == 0);
}

/// `whole` + `update` where the window starts, costing the window where `whole` is not needed afterwards.
Value added_at(Value whole, Value update, ValuesIn start) {
  const Value old = ops::dynamic_slice(whole, start, update.shape());
  return ops::dynamic_update_slice(whole, sum(old, update), start);
}

/// a + b where b is zero but for windows and scattered elements, each added where it is; absent if b is something else.
/// Slices that a loop reads of an invariant have such cotangents, of which each trip would else add all elements.
Value sum_in_place(Value a, Value b) {
  const auto base = [&](Value x) { return is_zero(x) ? a : sum_in_place(a, x); };
  if (const auto n = maker_of(b, "scatter"); n && n->attrs.as<ops::ScatterAttrs>().kind == ops::Combine::add) {
    const Values in = operands(b, *n);
    const Value rest = base(in[0]);
    return rest ? ops::scatter(rest, in[1], in[2], n->attrs.as<ops::ScatterAttrs>()) : Value{};
  }
  const auto n = maker_of(b, "dynamic_update_slice");
  if (!n) return {};
  const Values in = operands(b, *n);
  const ValuesIn start = ValuesIn(in).subspan(2);
  Value update = in[1];
  if (!is_zero(in[0])) {
    // What is beneath the window counts too if added_at gave this, else it is hidden.
    const auto total = maker_of(update, "add");
    if (!total) return {};
    const auto old = maker_of(operands(update, *total)[0], "dynamic_slice");
    std::vector<ValueId> from{n->operands[0]};
    from.insert(from.end(), n->operands.begin() + 2, n->operands.end());
    if (!old || old->operands != from) return {};
    update = operands(update, *total)[1];
  }
  const Value rest = base(in[0]);
  return rest ? added_at(rest, update, start) : Value{};
}

}  // namespace

Value zeros(Builder& b, DType t, Shape shape) { return ops::full(b, t, std::move(shape), 0); }

Value zero_like(Value like) {
  if (const auto* s = std::get_if<SparseType>(&like.type())) {
    const SparseType t = *s;
    const Values p = parts(like);
    return assembled(p, ops::zeros_like(p[2]), t);
  }
  return ops::zeros_like(like);
}

Value sum(Value a, Value b) {
  if (!a || !b) return a ? a : b;
  if (const auto* s = std::get_if<SparseType>(&a.type())) {
    const SparseType t = *s;
    const Values p = parts(a), q = parts(b);
    return assembled(p, ops::add(p[2], q[2]), t);
  }
  if (const Value v = sum_in_place(a, b)) return v;
  if (const Value v = sum_in_place(b, a)) return v;
  // fp8 is a storage type: there is no sum of it.
  if (const DType t = a.dtype(); float8.contains(t))
    return ops::convert(ops::add(ops::convert(a, DType::f32), ops::convert(b, DType::f32)), t);
  return ops::add(a, b);
}

Values instantiated(ValuesIn ts, ValuesIn likes, const Mask& m) {
  Values out;
  for (std::size_t i = 0; i < m.size(); ++i)
    if (m[i]) out.push_back(instantiated(ts[i], likes[i]));
  return out;
}

void check_rule(const Node& n, std::string_view rule, ValuesIn given, ValuesIn like) {
  const std::string who = std::string(n.op->name()) + ": its " + std::string(rule) + " rule gave ";
  if (given.size() != like.size())
    throw InternalError(who + counted(given.size(), "value") + ", expected " + std::to_string(like.size()));
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] && !same_kind(given[i].type(), like[i].type()))
      throw InternalError(who + to_string(given[i].type()) + " for value " + std::to_string(i) + ", which is " +
                          to_string(like[i].type()));
}

}  // namespace rlx::transform
