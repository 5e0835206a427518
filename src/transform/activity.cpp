#include "transform/activity.hpp"

#include <algorithm>

namespace rlx::transform {

bool has_tangent(const Type& t) {
  if (const auto* x = std::get_if<TensorType>(&t))
    return !x->quantization && (is_floating(x->dtype) || is_complex(x->dtype));
  const auto* s = std::get_if<SparseType>(&t);
  return s && (is_floating(s->dtype) || is_complex(s->dtype));
}

Mask mask_of(const std::vector<ValueId>& values, const ValueSet& set) {
  Mask m;
  for (ValueId v : values) m.push_back(set.count(v) > 0);
  return m;
}

namespace {

Mask reached_by_region(const Graph& g, RegionId r, const Mask& from, Along along) {
  return mask_of(g.region(r).results, reached(g, r, from, along));
}
Mask needed_by_region(const Graph& g, RegionId r, const Mask& to) {
  return mask_of(g.region(r).arguments, needed(g, r, to));
}

/// a |= b, from `at` in a; whether anything changed.
bool merge(Mask& a, const Mask& b, std::size_t size, std::size_t at = 0) {
  bool changed = false;
  for (std::size_t i = 0; i < size; ++i)
    if (b[i] && !a[at + i]) a[at + i] = changed = true;
  return changed;
}

Mask tail(const Mask& m, std::size_t from) { return Mask(m.begin() + static_cast<std::ptrdiff_t>(from), m.end()); }

}  // namespace

Mask reached_state(const Graph& g, const Node& n, const Mask& from, Along along) {
  const Loop l = loop_of(n);
  Mask arguments = from;
  while (merge(arguments, reached_by_region(g, l.body, arguments, along), l.carried)) {}
  Mask state(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(l.carried));
  // When the number of trips depends on it, so does the whole state.
  if (control_of(n) == Control::while_ && along == Along::values &&
      any(reached_by_region(g, condition_of(n), arguments, along)))
    state.assign(l.carried, true);
  return state;
}

Mask needed_state(const Graph& g, const Node& n, const Mask& to) {
  const Loop l = loop_of(n);
  Mask results = to;
  while (merge(results, needed_by_region(g, l.body, results), l.carried)) {}
  results.resize(l.carried);
  return results;
}

Mask reached_results(const Graph& g, const Node& n, const Mask& operands, Along along) {
  Mask out(n.results.size(), false);
  switch (control_of(n)) {
    case Control::none:
      out.assign(n.results.size(), any(operands));
      break;
    case Control::if_:
    case Control::checkpoint:
      if (control_of(n) == Control::if_ && operands[0]) {
        out.assign(n.results.size(), true);
        break;
      }
      for (RegionId r : n.regions)
        merge(out, reached_by_region(g, r, tail(operands, predicates_of(n)), along), out.size());
      break;
    case Control::while_:
      out = reached_state(g, n, operands, along);
      break;
    case Control::scan: {
      Mask arguments = operands;
      merge(arguments, reached_state(g, n, operands, along), loop_of(n).carried);
      out = reached_by_region(g, loop_of(n).body, arguments, along);
      merge(out, arguments, loop_of(n).carried);  // The initial state, should there be no trip.
      break;
    }
  }
  if (along == Along::tangents)
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] && has_tangent(g.type(n.results[i]));
  return out;
}

Mask needed_operands(const Graph& g, const Node& n, const Mask& results) {
  Mask out(n.operands.size(), false);
  switch (control_of(n)) {
    case Control::none:
      out.assign(n.operands.size(), any(results));
      break;
    case Control::if_:
    case Control::checkpoint:
      for (RegionId r : n.regions) {
        const Mask arguments = needed_by_region(g, r, results);
        merge(out, arguments, arguments.size(), predicates_of(n));
      }
      break;
    case Control::while_:
    case Control::scan: {
      const Loop l = loop_of(n);
      Mask all = results;
      const Mask state = needed_state(g, n, results);
      merge(all, state, l.carried);
      merge(out, needed_by_region(g, l.body, all), out.size());
      merge(out, state, l.carried);
      break;
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] && has_tangent(g.type(n.operands[i]));
  return out;
}

ValueSet reached(const Graph& g, RegionId r, const Mask& from, Along along) {
  const Region& region = g.region(r);
  ValueSet set;
  for (std::size_t i = 0; i < region.arguments.size(); ++i)
    if (from[i] && (along == Along::values || has_tangent(g.type(region.arguments[i]))))
      set.insert(region.arguments[i]);
  if (set.empty()) return set;
  for (NodeId id : region.nodes) {
    const Node& n = g.node(id);
    const Mask operands = mask_of(n.operands, set);
    if (!any(operands)) continue;
    const Mask results = reached_results(g, n, operands, along);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i]) set.insert(n.results[i]);
  }
  return set;
}

ValueSet needed(const Graph& g, RegionId r, const Mask& to) {
  const Region& region = g.region(r);
  ValueSet set;
  for (std::size_t i = 0; i < region.results.size(); ++i)
    if (to[i] && has_tangent(g.type(region.results[i]))) set.insert(region.results[i]);
  if (set.empty()) return set;
  for (auto id = region.nodes.rbegin(); id != region.nodes.rend(); ++id) {
    const Node& n = g.node(*id);
    const Mask results = mask_of(n.results, set);
    if (!any(results)) continue;
    const Mask operands = needed_operands(g, n, results);
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i]) set.insert(n.operands[i]);
  }
  return set;
}

void ResourceTrace::visit(const Graph& g, const Node& n, const Mask& varied, bool matters, std::string_view rule) {
  std::vector<ValueId> roots;
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const auto traced = roots_.find(n.operands[i]);
    if (traced == roots_.end()) continue;
    for (ValueId root : traced->second) {
      if (matters && std::find(n.operands.begin(), n.operands.end(), root) == n.operands.end())
        refuse(n, rule,
               "operand " + std::to_string(i) + ", " + to_string(g.type(n.operands[i])) +
                   ", depends on a differentiated value that is not an operand, and resources carry no derivative");
      roots.push_back(root);
    }
  }
  bool makes = false;
  for (ValueId v : n.results) makes |= std::holds_alternative<ResourceType>(g.type(v));
  if (!makes) return;
  for (std::size_t i = 0; i < n.operands.size(); ++i)
    if (varied[i]) roots.push_back(n.operands[i]);
  if (roots.empty()) return;
  for (ValueId v : n.results)
    if (std::holds_alternative<ResourceType>(g.type(v))) roots_[v] = roots;
}

}  // namespace rlx::transform
