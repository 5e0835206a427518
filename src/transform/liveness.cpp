#include "transform/liveness.hpp"

#include <rlx/ops/attributes/source.hpp>

namespace rlx::transform {

Liveness::Liveness(const Graph& g) : g_(g), values_(g.value_count()), nodes_(g.node_count()) {
  region(Graph::top, Mask(g.outputs().size(), true));
}

Mask Liveness::of(const std::vector<ValueId>& values) const {
  Mask m;
  for (ValueId v : values) m.push_back(value(v));
  return m;
}

bool Liveness::prunable(const Node& n) const { return control_of(n) != Control::none && !has_effect(g_, n); }

void Liveness::mark_where(const std::vector<ValueId>& values, const Mask& m) {
  for (std::size_t i = 0; i < m.size(); ++i)
    if (m[i]) mark(values[i]);
}

void Liveness::region(RegionId r, const Mask& results) {
  const Region& here = g_.region(r);
  mark_where(here.results, results);
  for (auto id = here.nodes.rbegin(); id != here.nodes.rend(); ++id) visit(*id);
}

void Liveness::visit(NodeId id) {
  const Node& n = g_.node(id);
  const Mask results = of(n.results);
  // A size may be used by its name alone, and a check is there for what it refuses.
  if (!any(results) && !has_effect(g_, n) && n.op->introduces(n.attrs).empty() &&
      !n.attrs.get_if<ops::CheckWithinAttrs>())
    return;
  nodes_[static_cast<std::size_t>(id)] = true;
  if (!prunable(n)) {
    for (ValueId v : n.operands) mark(v);
    for (RegionId r : n.regions) {
      for (ValueId a : g_.region(r).arguments) mark(a);
      region(r, Mask(g_.region(r).results.size(), true));
    }
  } else if (is_branch(n)) {
    const std::size_t predicates = predicates_of(n);
    for (std::size_t i = 0; i < predicates; ++i) mark(n.operands[i]);
    for (RegionId r : n.regions) {
      region(r, results);
      for (std::size_t i = predicates; i < n.operands.size(); ++i)
        if (value(g_.region(r).arguments[i - predicates])) mark(n.operands[i]);
    }
  } else {
    loop(n);
  }
}

// State is live when its last value is, or when a trip uses it for something that is.
void Liveness::loop(const Node& n) {
  const Loop l = loop_of(n);
  Mask live = of(n.results);
  for (bool changed = true; changed;) {
    changed = false;
    if (control_of(n) == Control::while_) region(condition_of(n), {true});
    region(l.body, live);
    for (std::size_t i = 0; i < l.carried; ++i) {
      bool used = live[i];
      for (RegionId r : n.regions) used = used || value(g_.region(r).arguments[i]);
      changed |= used && !live[i];
      live[i] = used;
    }
  }
  // A symbolic trip count is read off a sequence.
  const bool keep_sequences = control_of(n) == Control::scan && !l.scan.length.is_constant();
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    bool used = i < l.carried ? live[i] : keep_sequences && i < l.first_invariant();
    for (RegionId r : n.regions) used = used || value(g_.region(r).arguments[i]);
    if (!used) continue;
    mark(n.operands[i]);
    for (RegionId r : n.regions) mark(g_.region(r).arguments[i]);
  }
  mark_where(n.results, live);
}

}  // namespace rlx::transform
