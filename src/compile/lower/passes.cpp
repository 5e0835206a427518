#include "compile/lower/passes.hpp"

#include "compile/lower/placement.hpp"

#include <algorithm>
#include <map>

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

}  // namespace rlx::compile
