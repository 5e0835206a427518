// Cases that look at an instance's graph and run nothing: text form, decomposition, cost.
#include "api/conformance/checks.hpp"
#include "compile/report_steps.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace rlx::conformance {

namespace {

std::string round_trip(const Graph& g, const Registry& registry) {
  const std::string text = print(g);
  const Graph again = parse(text, registry, "conformance");
  verify(again, Level::hir);
  if (print(again) == text) return {};
  return "printed again after parsing, the text differs from:\n" + text;
}

Graph decomposed(const Op& op, const AnyAttrs& attrs, const Types& operands, const Registry& registry) {
  Graph body(std::string(op.name()));
  Builder b(body, registry);
  Values in;
  for (const Type& t : operands) in.push_back(b.input(t, "a" + std::to_string(in.size())));
  const Values out = op.decompose(b, attrs, in);
  for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], "r" + std::to_string(i));
  return body;
}

std::string types_differ(const Types& got, const Types& expected) {
  if (got.size() != expected.size())
    return "the decomposition has " + counted(got.size(), "result") + ", infer says " + std::to_string(expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(got[i] == expected[i]))
      return "the decomposition gives " + to_string(got[i]) + ", infer says " + to_string(expected[i]);
  return {};
}

// Operations of the primitives that a graph decomposes into; nothing where one of them states no cost (loops).
std::optional<double> operations(const Graph& g, const Registry& registry) {
  double sum = 0;
  for (NodeId id : g.region(Graph::top).nodes) {
    const Node& n = g.node(id);
    std::optional<double> part;
    if (n.op->meaning() == Meaning::composite)
      part = operations(decomposed(*n.op, n.attrs, g.types_of(n.operands), registry), registry);
    else if (const auto c = compile::cost_of(g, n); c && c->flops.is_constant())
      part = static_cast<double>(c->flops.constant());
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

void check_cost(const Instance& i, const std::optional<Graph>& body, Collector& out) {
  const auto cost = compile::cost_of(i.graph, i.node());
  if (!cost) return;
  const CaseOf c = case_of(i, "cost", out.device());
  if (!cost->flops.is_constant() || !cost->bytes.is_constant())
    return out.add(c, Outcome::failed, "the cost of a constant shape is not constant");
  const auto flops = static_cast<double>(cost->flops.constant());
  if (flops < 0 || cost->bytes.constant() < 0) return out.add(c, Outcome::failed, "a negative cost");
  // An estimate by elements leaves out what is done once, which is most of a case of a few operations.
  constexpr double few = 250;
  std::string wrong;
  if (const auto counted = body ? operations(*body, out.registry()) : std::nullopt;
      counted && std::max(flops, *counted) > few)
    if (const double ratio = flops / *counted; !(ratio >= 0.2 && ratio <= 5)) {
      char text[80];
      std::snprintf(text, sizeof text, "states %.3g operations, its decomposition has %.3g", flops, *counted);
      wrong = text;
    }
  out.judge(c, wrong);
}

}  // namespace

void check_graphs(std::span<const Instance> instances, Collector& out) {
  for (const Instance& i : instances) {
    const CaseOf trip = case_of(i, "round_trip", out.device());
    out.guarded(trip, [&] { out.judge(trip, round_trip(i.graph, out.registry())); });
    std::optional<Graph> body;
    if (i.op->meaning() == Meaning::composite) {
      const CaseOf c = case_of(i, "decomposition", out.device());
      out.guarded(c, [&] {
        body = decomposed(*i.op, i.sample.attrs, i.operand_types(), out.registry());
        verify(*body, Level::hir);
        out.judge(c, types_differ(body->types_of(body->outputs()), i.graph.types_of(i.graph.outputs())));
      });
    }
    const CaseOf c = case_of(i, "cost", out.device());
    out.guarded(c, [&] { check_cost(i, body, out); });
  }
}

}  // namespace rlx::conformance
