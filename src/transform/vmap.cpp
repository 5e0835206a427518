#include "ir/within.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/transform/vmap.hpp>

#include <rlx/ops/build.hpp>
#include <rlx/transform/simplify.hpp>

#include "transform/batching.hpp"

#include <algorithm>

namespace rlx::transform {

Value move_axis(Value x, int from, int to) {
  if (from == to) return x;
  std::vector<int> order;
  for (int i = 0; i < x.rank(); ++i)
    if (i != from) order.push_back(i);
  order.insert(order.begin() + to, from);
  return ops::transpose(x, order);
}

Value batched_at(Value x, int axis, int to, const Dim& size) {
  return axis < 0 ? ops::insert_axis(x, to, size) : move_axis(x, axis, to);
}

namespace {

Batched batch_node(const BatchContext& c, const Node& n, ValuesIn in, std::span<const int> axes, int depth) {
  const bool none = std::all_of(axes.begin(), axes.end(), [](int a) { return a < 0; });
  if (none) {
    Values out = c.b.clone(c.g, n, in);
    std::vector<int> same(out.size(), -1);
    return {std::move(out), std::move(same)};
  }
  if (control_of(n) != Control::none) return control_batch(c, n, in, axes);
  const Op::RuleInfo rule = n.op->batch_rule();
  if (rule.kind == RuleKind::never) refuse(n, "batch", std::string(rule.why));
  if (rule.kind == RuleKind::given) return n.op->batch({c.b, n.attrs, in, axes, c.size, c.g, n});
  if (n.op->meaning() != Meaning::composite)
    refuse(n, "batch", "its rule is to follow the decomposition, but it has none");
  if (depth >= max_decompositions) refuse(n, "batch", "decompositions nest too deeply");
  const Graph body = decomposition(c.b.registry(), n, c.g.types_of(n.operands), c.g.symbols);
  return detail::within(n.op->name(), "batch",
                        [&] { return batch_region({c.b, body, c.size}, Graph::top, in, axes, depth + 1); });
}

/// A rule that breaks its contract is found where it happened.
void check_batched(const BatchContext& c, const Node& n, const Batched& out) {
  const std::string who = std::string(n.op->name()) + ": its batch rule gave ";
  if (out.out.size() != n.results.size() || out.axes.size() != n.results.size())
    throw InternalError(who + counted(out.out.size(), "value") + ", expected " + std::to_string(n.results.size()));
  for (std::size_t i = 0; i < out.out.size(); ++i) {
    if (out.axes[i] < 0) continue;
    const auto* one = std::get_if<TensorType>(&c.g.type(n.results[i]));
    const auto* all = std::get_if<TensorType>(&out.out[i].type());
    bool fits = one && all && one->dtype == all->dtype && all->rank() == one->rank() + 1 && out.axes[i] <= one->rank();
    if (fits) {
      Shape s = one->shape;
      s.insert(s.begin() + out.axes[i], c.size);
      fits = s == all->shape;
    }
    if (!fits)
      throw InternalError(who + to_string(out.out[i].type()) + " with axis " + std::to_string(out.axes[i]) + " for " +
                          to_string(c.g.type(n.results[i])));
  }
}

}  // namespace

Batched batch_region(const BatchContext& c, RegionId r, ValuesIn arguments, std::span<const int> axes, int depth) {
  struct Member {
    Value value;
    int axis;
  };
  const Region& region = c.g.region(r);
  std::unordered_map<ValueId, Member> members;
  for (std::size_t i = 0; i < arguments.size(); ++i) members[region.arguments[i]] = {arguments[i], axes[i]};
  for (NodeId id : region.nodes) {
    const Node& n = c.g.node(id);
    Values in;
    std::vector<int> at;
    for (ValueId v : n.operands) in.push_back(members.at(v).value), at.push_back(members.at(v).axis);
    const Batched out = located(c.b, n, [&] { return batch_node(c, n, in, at, depth); });
    check_batched(c, n, out);
    for (std::size_t i = 0; i < n.results.size(); ++i) members[n.results[i]] = {out.out[i], out.axes[i]};
  }
  Batched out;
  for (ValueId v : region.results) out.out.push_back(members.at(v).value), out.axes.push_back(members.at(v).axis);
  return out;
}

Graph vmap(const Graph& f, const Registry& registry, const VmapOptions& options) {
  const auto fail = [&](const std::string& why) { throw ArgumentError(f.name + ": " + why); };
  std::vector<int> in_axes = options.in_axes, out_axes = options.out_axes;
  if (in_axes.empty())
    for (ValueId v : f.inputs()) in_axes.push_back(std::holds_alternative<TensorType>(f.type(v)) ? 0 : -1);
  if (out_axes.empty())
    for (ValueId v : f.outputs()) out_axes.push_back(std::holds_alternative<TensorType>(f.type(v)) ? 0 : -1);
  if (in_axes.size() != f.inputs().size())
    fail(std::to_string(in_axes.size()) + " input axes given, expected " + std::to_string(f.inputs().size()));
  if (out_axes.size() != f.outputs().size())
    fail(std::to_string(out_axes.size()) + " output axes given, expected " + std::to_string(f.outputs().size()));
  Graph out(f.name + "_vmap");
  out.symbols = f.symbols;
  for (const std::string& s : options.size.symbols()) out.symbols.try_emplace(s);
  Builder b(out, registry);
  Values in;
  for (std::size_t i = 0; i < in_axes.size(); ++i) {
    Type t = f.type(f.inputs()[i]);
    if (in_axes[i] >= 0) {
      const auto* x = std::get_if<TensorType>(&t);
      if (!x || x->layout || x->sharding || in_axes[i] > x->rank())
        fail("input \"" + f.input_names[i] + "\" is " + to_string(t) + ", which has no batch dimension " +
             std::to_string(in_axes[i]));
      t = with_dimension(*x, in_axes[i], options.size);
    }
    in.push_back(b.input(std::move(t), f.input_names[i]));
  }
  const Batched r = batch_region({b, f, options.size}, Graph::top, in, in_axes);
  for (std::size_t i = 0; i < out_axes.size(); ++i) {
    const std::string who = "output \"" + f.output_names[i] + "\" is " + to_string(f.type(f.outputs()[i]));
    if (out_axes[i] < 0) {
      if (r.axes[i] >= 0) fail(who + ", which differs between members: it needs an axis");
      b.output(r.out[i], f.output_names[i]);
      continue;
    }
    const auto* x = std::get_if<TensorType>(&f.type(f.outputs()[i]));
    if (!x || out_axes[i] > x->rank()) fail(who + ", which has no batch dimension " + std::to_string(out_axes[i]));
    b.output(batched_at(r.out[i], r.axes[i], out_axes[i], options.size), f.output_names[i]);
  }
  return simplify(out, registry);
}

}  // namespace rlx::transform
