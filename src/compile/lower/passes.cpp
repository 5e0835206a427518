#include "compile/lower/passes.hpp"

#include "compile/lower/placement.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace rlx::compile {

void drop_private_buffers(KernelSet& s, const Region& region) {
  std::set<ValueId> needed(region.results.begin(), region.results.end());
  for (const FusedKernel& k : s.kernels) needed.merge(s.reads(k));
  for (FusedKernel& k : s.kernels) {
    const std::set<ValueId> made = s.results(k);
    const auto is_needed = [&](ValueId v) { return needed.contains(v); };
    // A kernel that nothing reads (dead code) is left as it is.
    if ((!s.is_loop(k) && k.space < 0) || std::none_of(made.begin(), made.end(), is_needed)) continue;
    for (ValueId v : made)
      if (!is_needed(v)) s.buffers.erase(v);
    // Reductions stay: what they give is a register of the kernel.
    std::erase_if(k.roots, [&](NodeId r) {
      const Node& n = s.graph.node(r);
      return is_inlined_kind(n) && !is_needed(n.results[0]);
    });
  }
}

std::vector<Pass> passes_of(const KernelSet& s, const Region& region, const FusedKernel& k) {
  std::set<NodeId> inside;
  s.walk(k, [](ValueId) {}, [&](NodeId id) { inside.insert(id); });
  const std::set<NodeId> roots(k.roots.begin(), k.roots.end());
  const Shape row = without_units(s.graph.tensor_type(s.graph.node(k.space).results[0]).shape);
  std::vector<Pass> passes(1);
  std::map<ValueId, std::size_t> from;  // The pass from which on a value can be known; absent: the first.
  for (NodeId id : region.nodes) {
    if (!inside.contains(id)) continue;
    const Node& n = s.graph.node(id);
    std::size_t pass = 0;
    for (ValueId v : n.operands)
      if (const auto it = from.find(v); it != from.end()) pass = std::max(pass, it->second);
    const bool reduction = !is_inlined_kind(n);
    for (ValueId v : n.results) from[v] = pass + (reduction ? 1 : 0);
    if (!roots.contains(id)) continue;
    const bool kept = !reduction && without_units(s.graph.tensor_type(n.results[0]).shape) == row;
    if (kept && pass > 0) --pass;  // Stored when the pass before has ended.
    if (passes.size() <= pass) passes.resize(pass + 1);
    (reduction ? passes[pass].reductions : kept ? passes[pass].kept : passes[pass].loops).push_back(id);
  }
  return passes;
}

namespace {

// What the passes of a kernel ask of a node that is worked out in them: in which passes, and where, if always at one
// placement.
struct Demand {
  std::set<std::size_t> passes;
  std::optional<Placement> at;
  void add(const std::set<std::size_t>& more, const std::optional<Placement>& where) {
    at = passes.empty() || at == where ? where : std::nullopt;
    passes.insert(more.begin(), more.end());
  }
};

}  // namespace

void find_lodgings(const KernelSet& s, const Region& region, FusedKernel& k) {
  constexpr int dear = 8;  // Work from which a load is the better choice.
  if (k.passes.size() < 2) return;
  const Graph& g = s.graph;
  const SpaceDimensions space = space_of(g, g.node(k.space));
  const std::set<NodeId> roots(k.roots.begin(), k.roots.end());
  std::set<NodeId> inside;
  s.walk(k, [](ValueId) {}, [&](NodeId id) { inside.insert(id); });
  // Of an element. What rows have one of is worked out once for all of a row.
  std::map<NodeId, int> work;
  const auto spans_rows = [&](ValueId v) { return without_units(g.tensor_type(v).shape).size() == space.all.size(); };
  for (NodeId id : region.nodes) {
    if (!inside.contains(id)) continue;
    work[id] = own_weight(g.node(id));
    for (ValueId v : g.node(id).operands)
      if (const NodeId d = g.value(v).node; inside.contains(d) && !roots.contains(d) && spans_rows(v))
        work[id] += work[d];
  }

  std::map<NodeId, Demand> demand;
  const auto ask_operands = [&](NodeId id, const Demand& d) {
    const Node& n = g.node(id);
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const NodeId maker = g.value(n.operands[i]).node;
      if (!inside.contains(maker) || roots.contains(maker)) continue;
      std::optional<Placement> at;
      if (!is_inlined_kind(n)) at = placed_along(g.tensor_type(n.operands[i]).shape, space.all);
      else if (d.at) at = operand_placement(g, n, i, *d.at);
      demand[maker].add(d.passes, at);
    }
  };
  for (std::size_t p = 0; p < k.passes.size(); ++p) {
    const auto shape = [&](NodeId r) -> const Shape& { return g.tensor_type(g.node(r).results[0]).shape; };
    for (NodeId r : k.passes[p].reductions) ask_operands(r, {{p}, {}});
    for (NodeId r : k.passes[p].loops) ask_operands(r, {{p}, placed_along(shape(r), space.all)});
    for (NodeId r : k.passes[p].kept) ask_operands(r, {{p}, placed_along(shape(r), space.kept)});
  }
  std::set<NodeId> hosts;
  for (auto it = region.nodes.rbegin(); it != region.nodes.rend(); ++it) {
    if (!demand.contains(*it)) continue;
    Demand d = demand[*it];
    const ValueId v = g.node(*it).results[0];
    const TensorType& t = g.tensor_type(v);
    const bool whole = spans_rows(v) && d.at == placed_along(t.shape, space.all);
    if (whole && d.passes.size() > 1 && work[*it] >= dear)
      for (NodeId host : k.passes[*d.passes.rbegin()].loops) {
        if (g.tensor_type(g.node(host).results[0]).dtype != t.dtype || !hosts.insert(host).second) continue;
        k.passes[*d.passes.begin()].lodgers.emplace_back(v, host);
        d.passes = {*d.passes.begin()};  // It is worked out once.
        break;
      }
    ask_operands(*it, d);
  }
}

}  // namespace rlx::compile
