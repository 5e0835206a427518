#include "compile/in_place.hpp"

#include "compile/lir/effects.hpp"

#include <rlx/ir/op.hpp>

namespace rlx::compile {
namespace {

struct BodyAccesses {
  std::set<ValueId> loaded, stored;  // Arguments of the body.
  ValueId at = -1;                   // The index of all of them so far.
  bool written = false;
};

// Whether two values of a body are equal because they are computed alike, but for what they load.
bool same_value(const Graph& g, ValueId a, ValueId b) {
  if (a == b) return true;
  const NodeId x = g.value(a).node, y = g.value(b).node;
  if (x < 0 || y < 0 || g.value(a).index != g.value(b).index) return false;
  const Node &m = g.node(x), &n = g.node(y);
  if (m.op != n.op || !m.regions.empty() || !n.regions.empty() || m.op->name() == "lir.load" ||
      m.operands.size() != n.operands.size() || !(m.attrs == n.attrs))
    return false;
  for (std::size_t i = 0; i < m.operands.size(); ++i)
    if (!same_value(g, m.operands[i], n.operands[i])) return false;
  return true;
}

// False where something is loaded after the store, or anything at another index.
bool accesses_match(const Graph& g, RegionId r, BodyAccesses& a) {
  for (NodeId id : g.region(r).nodes) {
    const Node& n = g.node(id);
    for (RegionId inner : n.regions)
      if (!accesses_match(g, inner, a)) return false;
    const bool load = n.op->name() == "lir.load" && a.loaded.contains(n.operands[0]);
    const bool store = n.op->name() == "lir.store" && a.stored.contains(n.operands[0]);
    if (load && a.written) return false;
    a.written = a.written || store;
    if (!load && !store) continue;
    if (a.at < 0) a.at = n.operands[1];
    if (!same_value(g, a.at, n.operands[1])) return false;
  }
  return true;
}

}  // namespace

bool may_write_over(const Graph& g, const Node& kernel, const std::set<ValueId>& from, const std::set<ValueId>& to) {
  const auto arguments = lir::buffer_arguments(g, kernel);
  BodyAccesses a{};
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    if (from.contains(kernel.operands[i])) a.loaded.insert(arguments[i]);
    if (to.contains(kernel.operands[i])) a.stored.insert(arguments[i]);
  }
  return a.loaded.empty() || accesses_match(g, kernel.regions[0], a);
}

}  // namespace rlx::compile
