// Operators written out node by node, as a user or an importer writes them, and what the recognition pass makes of
// them.
#pragma once
#include "compile/open_rows.hpp"
#include "compile/recognise/recognise.hpp"
#include "linalg_catalog.hpp"

#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>
#include <rlx/ops/build.hpp>

#include <functional>
#include <string>
#include <vector>

namespace rlx::written_out {

/// With the family that has a pattern.
inline const runtime::Catalog& catalog() { return linalg_catalog(); }
inline const Registry& registry() { return catalog().operators; }

using Nodes = std::vector<std::string>;

struct Looked {
  Graph graph;
  DispatchReport report;
};

inline Looked look(Graph g, const CompileOptions& options = {}, std::span<const KernelRecord> records = {}) {
  static const Target target{.device = "made_up"};
  verify(g, Level::hir);
  DispatchReport report = compile::open_rows(g, target, options);
  compile::recognise(g, registry(), target, records, options, report);
  verify(g, Level::hir);
  return {std::move(g), std::move(report)};
}

/// "softmax{axis = 1}" of each node of a region, in order.
inline Nodes nodes_of(const Graph& g, RegionId r = Graph::top) {
  Nodes out;
  for (NodeId id : g.region(r).nodes) out.push_back(std::string(g.node(id).op->name()) + g.node(id).attrs.to_string());
  return out;
}
inline Nodes recognised(Graph g) { return nodes_of(look(std::move(g)).graph); }
/// Whether nothing was recognised.
inline bool stays(const Graph& g) { return nodes_of(look(g).graph) == nodes_of(g); }

inline Graph graph_of(const std::vector<Type>& inputs, const std::function<Values(ValuesIn)>& fill,
                      SymbolTable symbols = {}) {
  Graph g("written_out");
  g.symbols = std::move(symbols);
  Builder b(g, registry());
  Values in;
  for (const Type& t : inputs) in.push_back(b.input(t, "x" + std::to_string(in.size())));
  for (const Value& v : fill(in)) b.output(v, "y" + std::to_string(g.outputs().size()));
  return g;
}
inline Graph graph_of(const Type& input, const std::function<Value(Value)>& fill) {
  return graph_of(std::vector{input}, [&](ValuesIn in) { return Values{fill(in[0])}; });
}

/// A reduce in text, its region with the numbers that printing would give.
inline std::string reduce_line(int result, int x, int identity, int axis, const std::string& op,
                               const std::string& type) {
  const std::string scalar = type.substr(0, type.find('[')) + "[]";
  const auto name = [](int i) { return "%" + std::to_string(i); };
  const std::string a = name(result + 1), b = name(result + 2), c = name(result + 3);
  return "  " + name(result) + " = reduce(" + name(x) + ", " + name(identity) + ") {axes = [" + std::to_string(axis) +
         "]} (\n    region(" + a + ": " + scalar + ", " + b + ": " + scalar + ") {\n      " + c + " = " + op + "(" + b +
         ", " + a + ") : " + scalar + "\n      return " + c + "\n    }\n  ) : " + type + "\n";
}
/// softmax of f32[2,3] along its last dimension, the identities at the top as importers put them.
inline std::string softmax_text(const std::string& more_results = "") {
  return "rlx 1\ngraph softmax(%0 \"x\": f32[2,3]) {\n"
         "  %1 = constant() {value = f32[](-inf)} : f32[]\n"
         "  %2 = constant() {value = f32[](0)} : f32[]\n" +
         reduce_line(3, 0, 1, 1, "max", "f32[2]") +
         "  %7 = broadcast(%3) {shape = [2, 3], axes = [0]} : f32[2,3]\n"
         "  %8 = sub(%0, %7) : f32[2,3]\n"
         "  %9 = exp(%8) : f32[2,3]\n" +
         reduce_line(10, 9, 2, 1, "add", "f32[2]") +
         "  %14 = broadcast(%10) {shape = [2, 3], axes = [0]} : f32[2,3]\n"
         "  %15 = div(%9, %14) : f32[2,3]\n"
         "  return %15 \"y\"" +
         more_results + "\n}\n";
}
/// The mean of the places of true elements of bool[6], as f64[]: of a size that a result introduces.
inline std::string mean_of_places_text() {
  return "rlx 1\ngraph g(%0 \"m\": bool[6]) symbols(k) {\n"
         "  %1 = nonzero(%0) {size = k} : i32[k]\n"
         "  %2 = convert(%1) {dtype = f64} : f64[k]\n"
         "  %3 = constant() {value = f64[](0)} : f64[]\n" +
         reduce_line(4, 2, 3, 0, "add", "f64[]") +
         "  %8 = dim_size() {size = k, dtype = f64} : f64[]\n"
         "  %9 = div(%4, %8) : f64[]\n"
         "  return %9 \"mean\"\n}\n";
}
inline Graph parsed(const std::string& text) { return parse(text, registry(), "written.rlx", TextLines::remember); }

// --- By hand, in the order in which a user thinks of them; not in that of the decompositions.

inline Value softmax_by_hand(Value x, int axis) {
  const Value top = ops::reduce_max(x, {axis}, true), e = ops::exp(ops::sub(x, top));
  return ops::div(e, ops::reduce_sum(e, {axis}, true));
}
inline Value log_softmax_by_hand(Value x, int axis) {
  const Value d = ops::sub(x, ops::reduce_max(x, {axis}, true));
  const Value sum = ops::reduce_sum(ops::exp(d), {axis}, true);
  return ops::sub(d, ops::log(sum));
}
inline Value logsumexp_by_hand(Value x, std::vector<int> axes) {
  const Value top = ops::reduce_max(x, axes, true);
  const Value safe = ops::select(ops::is_finite(top), top, ops::scalar(*x.builder, x.dtype(), 0));
  const Value sum = ops::reduce_sum(ops::exp(ops::sub(x, safe)), axes, true);
  return ops::add(safe, ops::log(sum));
}
inline Value mean_by_hand(Value x, std::vector<int> axes, bool keep, double count) {
  return ops::div(ops::reduce_sum(x, std::move(axes), keep), ops::scalar(*x.builder, x.dtype(), count));
}
inline Value var_by_hand(Value x, const std::vector<int>& axes, double count, double degrees) {
  const Value d = ops::sub(x, mean_by_hand(x, axes, true, count));
  return mean_by_hand(ops::mul(d, d), axes, false, degrees);
}
inline Value layer_norm_by_hand(Value x, Value scale, Value bias, double epsilon, double count) {
  const int last = x.rank() - 1;
  const Value d = ops::sub(x, mean_by_hand(x, {last}, true, count));
  const Value v = mean_by_hand(ops::mul(d, d), {last}, true, count);
  const Value inverse = ops::rsqrt(ops::add(v, ops::scalar(*x.builder, x.dtype(), epsilon)));
  return ops::add(bias, ops::mul(scale, ops::mul(d, inverse)));
}

}  // namespace rlx::written_out
