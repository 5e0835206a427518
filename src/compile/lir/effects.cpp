#include "compile/lir/effects.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>

namespace rlx::lir {

ValueId root(const Graph& g, ValueId v) {
  for (NodeId d; (d = g.value(v).node) >= 0 && g.node(d).op->name() == "lir.view";) v = g.node(d).operands[0];
  return v;
}

std::span<const ValueId> buffer_arguments(const Graph& g, const Node& kernel) {
  return std::span(g.region(kernel.regions[0]).arguments).last(kernel.operands.size());
}

bool Effects::conflicts(const Effects& o) const {
  const auto meet = [](const std::set<ValueId>& a, const std::set<ValueId>& b) {
    return std::any_of(a.begin(), a.end(), [&](ValueId v) { return b.contains(v); });
  };
  return meet(writes, o.reads) || meet(writes, o.writes) || meet(reads, o.writes);
}

static void add(const Graph& g, const Node& n, Effects& e) {
  const std::string_view op = n.op->name();
  if (op == "lir.buffer" || op == "lir.view") return;
  const auto* kernel = n.attrs.get_if<KernelAttrs>();
  const std::size_t count = n.operands.size();
  std::size_t reads = count;
  if (kernel) reads -= static_cast<std::size_t>(kernel->writes);
  else if (const auto* call = n.attrs.get_if<CallAttrs>()) reads = static_cast<std::size_t>(call->operands);
  else if (op == "lir.copy") reads = 1;
  for (std::size_t i = 0; i < count; ++i) (i < reads ? e.reads : e.writes).insert(root(g, n.operands[i]));
  e.writes.insert(n.results.begin(), n.results.end());
  if (kernel) return;
  for (RegionId r : n.regions) {
    for (ValueId v : g.region(r).results) e.reads.insert(root(g, v));
    const Effects inner = effects(g, g.region(r).nodes);
    for (const auto* list : {&inner.reads, &inner.writes})
      e.reads.insert(list->begin(), list->end()), e.writes.insert(list->begin(), list->end());
  }
}

Effects effects(const Graph& g, const std::vector<NodeId>& steps) {
  Effects e;
  for (NodeId id : steps) add(g, g.node(id), e);
  return e;
}

}  // namespace rlx::lir
