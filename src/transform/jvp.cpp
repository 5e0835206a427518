#include "ir/within.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/transform/jvp.hpp>

#include <rlx/transform/simplify.hpp>

#include "transform/forward.hpp"
#include "transform/order_effects.hpp"

namespace rlx::transform {
namespace {

Pushed push_node(Builder& b, const Graph& g, const Node& n, ValuesIn in, ValuesIn tangents, int depth) {
  bool smooth = false;
  for (ValueId v : n.results) smooth |= has_tangent(g.type(v));
  if (!smooth || !any(present(tangents))) {
    Values out = b.clone(g, n, in);
    Values none(out.size());
    return {std::move(out), std::move(none)};
  }
  if (control_of(n) != Control::none) return control_push(b, g, n, in, tangents);
  const Op::RuleInfo rule = n.op->jvp_rule();
  if (rule.kind == RuleKind::given) {
    Values out = b.clone(g, n, in);
    Values of_results = n.op->jvp({b, n.attrs, in, out, tangents, g, n});
    check_rule(n, "jvp", of_results, out);
    return {std::move(out), std::move(of_results)};
  }
  if (rule.kind == RuleKind::never) refuse(n, "jvp", std::string(rule.why));
  if (n.op->meaning() != Meaning::composite)
    refuse(n, "jvp", "its rule is to follow the decomposition, but it has none");
  if (depth >= max_decompositions) refuse(n, "jvp", "decompositions nest too deeply");
  Types types;
  for (const Value& v : in) types.push_back(v.type());
  const Graph body = decomposition(b.registry(), n, types, b.graph().symbols);
  return detail::within(n.op->name(), "jvp", [&] { return push_region(b, body, Graph::top, in, tangents, depth + 1); });
}

}  // namespace

Pushed push_region(Builder& b, const Graph& g, RegionId r, ValuesIn arguments, ValuesIn tangents, int depth) {
  const Region& region = g.region(r);
  std::unordered_map<ValueId, Value> values, pushed;
  ResourceTrace resources;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values[region.arguments[i]] = arguments[i];
    if (tangents[i]) pushed[region.arguments[i]] = tangents[i];
  }
  const auto tangent = [&](ValueId v) {
    const auto it = pushed.find(v);
    return it == pushed.end() ? Value{} : it->second;
  };
  for (NodeId id : region.nodes) {
    const Node& n = g.node(id);
    Values in, of_operands;
    for (ValueId v : n.operands) in.push_back(values.at(v)), of_operands.push_back(tangent(v));
    bool smooth = false;
    for (ValueId v : n.results) smooth |= has_tangent(g.type(v));
    resources.visit(g, n, present(of_operands), smooth, "jvp");
    const Pushed p = located(b, n, [&] { return push_node(b, g, n, in, of_operands, depth); });
    for (std::size_t i = 0; i < n.results.size(); ++i) {
      values[n.results[i]] = p.results[i];
      if (p.tangents[i] && has_tangent(g.type(n.results[i]))) pushed[n.results[i]] = p.tangents[i];
    }
  }
  Pushed out;
  for (ValueId v : region.results) out.results.push_back(values.at(v)), out.tangents.push_back(tangent(v));
  return out;
}

Graph jvp(const Graph& f, const Registry& registry, const JvpOptions& options) {
  Mask which = options.tangents;
  if (which.empty())
    for (ValueId v : f.inputs()) which.push_back(has_tangent(f.type(v)));
  if (which.size() != f.inputs().size())
    throw ArgumentError(f.name + ": " + std::to_string(which.size()) + " flags for " +
                        counted(f.inputs().size(), "input"));
  Graph out(f.name + "_jvp");
  out.symbols = f.symbols;
  Builder b(out, registry);
  Values in, tangents(which.size());
  for (std::size_t i = 0; i < which.size(); ++i) in.push_back(b.input(f.type(f.inputs()[i]), f.input_names[i]));
  std::vector<std::string> taken = f.input_names;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!which[i]) continue;
    const Type& t = f.type(f.inputs()[i]);
    if (!has_tangent(t))
      throw ArgumentError(f.name + ": input \"" + f.input_names[i] + "\" is " + to_string(t) +
                          ", which has no tangent");
    tangents[i] = b.input(t, unique_name("t_" + f.input_names[i], taken));
  }
  const Pushed p = push_region(b, f, Graph::top, in, tangents);
  taken.clear();
  if (options.with_outputs)
    for (std::size_t i = 0; i < p.results.size(); ++i) b.output(p.results[i], unique_name(f.output_names[i], taken));
  for (std::size_t i = 0; i < p.results.size(); ++i)
    if (has_tangent(p.results[i].type()))
      b.output(instantiated(p.tangents[i], p.results[i]), unique_name("t_" + f.output_names[i], taken));
  order_effects(out);
  return simplify(out, registry);
}

}  // namespace rlx::transform
