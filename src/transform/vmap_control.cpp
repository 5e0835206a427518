// Batching of control flow. Which results and state differ between members is found before anything is emitted, so that
// both branches, or all trips, agree on types; inside, batch dimensions come first.
#include <rlx/ops/build.hpp>

#include "transform/batching.hpp"

namespace rlx::transform {
namespace {

std::vector<int> axes_of(const Mask& m, int axis = 0) {
  std::vector<int> axes;
  for (bool batched : m) axes.push_back(batched ? axis : -1);
  return axes;
}
std::vector<int> joined_axes(std::initializer_list<std::vector<int>> lists) {
  std::vector<int> out;
  for (const auto& l : lists) out.insert(out.end(), l.begin(), l.end());
  return out;
}

void needs_tensors(const BatchContext& c, const Node& n, std::span<const ValueId> values, const Mask& m) {
  for (std::size_t i = 0; i < m.size(); ++i)
    if (m[i] && !std::holds_alternative<TensorType>(c.g.type(values[i])))
      refuse(n, "batch", to_string(c.g.type(values[i])) + " differs between members, and only tensors can be batched");
}

/// Those that `m` names with their batch dimension at `to`, repeated where they lack it; the others as they are.
Values aligned(const BatchContext& c, const Batched& x, const Mask& m, int to = 0) {
  Values out;
  for (std::size_t i = 0; i < m.size(); ++i) {
    if (!m[i] && x.axes[i] >= 0) throw InternalError("a value that depends on no batched one got a batch dimension");
    out.push_back(m[i] ? batched_at(x.out[i], x.axes[i], to, c.size) : x.out[i]);
  }
  return out;
}

Mask batched(std::span<const int> axes) {
  Mask m;
  for (int a : axes) m.push_back(a >= 0);
  return m;
}

/// The node that gave `v` says `text`.
Value noted(Value v, std::string text) {
  Graph& g = v.builder->graph();
  g.node(g.value(v.id).node).note = std::move(text);
  return v;
}

/// A predicate [size], stretched over the further dimensions of a value that is batched in front.
Value over(Value predicate, Value like) { return ops::broadcast(predicate, like.shape(), {0}); }

Batched branch_batch(const BatchContext& c, const Node& n, ValuesIn in, std::span<const int> axes) {
  const std::size_t predicates = predicates_of(n);
  const Mask from = batched(axes), results = reached_results(c.g, n, from, Along::values);
  needs_tensors(c, n, n.results, results);
  const std::span<const int> own = axes.subspan(predicates);
  const Batched operands{joined({in.subspan(predicates)}), {own.begin(), own.end()}};
  if (predicates > 0 && axes[0] >= 0) {
    std::vector<Values> branches;
    for (RegionId r : n.regions) {
      if (region_has_effect(c.g, r))
        refuse(n, "batch", "its predicate differs between members, and a branch has effects");
      branches.push_back(aligned(c, batch_region(c, r, operands.out, operands.axes), results));
    }
    Batched out{{}, axes_of(results)};
    for (std::size_t i = 0; i < results.size(); ++i)
      out.out.push_back(noted(ops::select(over(in[0], branches[0][i]), branches[0][i], branches[1][i]),
                              "if over a batched predicate: both branches run for all members"));
    return out;
  }
  const Mask arguments = batched(own);
  std::vector<RegionBody> bodies;
  for (RegionId r : n.regions)
    bodies.push_back([&, r](ValuesIn a) { return aligned(c, batch_region(c, r, a, axes_of(arguments)), results); });
  return {c.b.emit(n.op->name(), joined({in.first(predicates), aligned(c, operands, arguments)}), n.attrs, bodies),
          axes_of(results)};
}

Batched while_batch(const BatchContext& c, const Node& n, ValuesIn in, std::span<const int> axes) {
  const Loop l = loop_of(n);
  Mask arguments = batched(axes);
  const Mask state = reached_state(c.g, n, arguments, Along::values);
  needs_tensors(c, n, n.results, state);
  for (std::size_t i = 0; i < l.carried; ++i) arguments[i] = state[i];
  const std::vector<int> at = axes_of(arguments);
  const Batched operands{joined({in}), {axes.begin(), axes.end()}};
  const bool each =
      any(mask_of(c.g.region(condition_of(n)).results, reached(c.g, condition_of(n), arguments, Along::values)));
  if (each && (region_has_effect(c.g, condition_of(n)) || region_has_effect(c.g, l.body)))
    refuse(n, "batch", "its condition differs between members, and the loop has effects");
  const auto condition = [&](ValuesIn a) {
    const Batched p = batch_region(c, condition_of(n), a, at);
    return each ? batched_at(p.out[0], p.axes[0], 0, c.size) : p.out[0];
  };
  const RegionBody bodies[] = {
      [&](ValuesIn a) { return Values{each ? ops::reduce_or(condition(a), {0}) : condition(a)}; },
      [&](ValuesIn a) {
        Values next = aligned(c, batch_region(c, l.body, a, at), state);
        if (!each) return next;
        const Value running = condition(a);
        for (std::size_t i = 0; i < next.size(); ++i)
          next[i] = noted(ops::select(over(running, next[i]), next[i], a[i]),
                          "while over a batched condition: all members take as many trips as the one that takes most");
        return next;
      }};
  return {c.b.emit("while", aligned(c, operands, arguments), n.attrs, bodies), axes_of(state)};
}

Batched scan_batch(const BatchContext& c, const Node& n, ValuesIn in, std::span<const int> axes) {
  const Loop l = loop_of(n);
  Mask arguments = batched(axes);
  const Mask state = reached_state(c.g, n, arguments, Along::values);
  for (std::size_t i = 0; i < l.carried; ++i) arguments[i] = state[i];
  const Mask results = reached_results(c.g, n, arguments, Along::values);
  needs_tensors(c, n, n.results, results);
  // Sequences are walked along dimension 0, so that their batch dimension comes second; so do those of stacked outputs.
  Values operands;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool sequence = i >= l.carried && i < l.first_invariant();
    operands.push_back(arguments[i] ? batched_at(in[i], axes[i], sequence ? 1 : 0, c.size) : in[i]);
  }
  const RegionBody body = [&](ValuesIn a) {
    return aligned(c, batch_region(c, l.body, a, axes_of(arguments)), results);
  };
  const Mask outputs(results.begin() + static_cast<std::ptrdiff_t>(l.carried), results.end());
  return {c.b.emit("scan", operands, n.attrs, {&body, 1}), joined_axes({axes_of(state), axes_of(outputs, 1)})};
}

}  // namespace

Batched control_batch(const BatchContext& c, const Node& n, ValuesIn in, std::span<const int> axes) {
  switch (control_of(n)) {
    case Control::scan:
      return scan_batch(c, n, in, axes);
    case Control::while_:
      return while_batch(c, n, in, axes);
    default:
      return branch_batch(c, n, in, axes);
  }
}

}  // namespace rlx::transform
