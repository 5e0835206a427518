#include "compile/recognise/flatten.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>

namespace rlx::compile {
namespace {

bool is_left_out(const Graph& g, const Node& n) {
  const auto tensor = [&](ValueId v) { return std::holds_alternative<TensorType>(g.type(v)); };
  return has_subprograms(n.op->name()) || !n.op->introduces(n.attrs).empty() || n.results.empty() ||
         !std::all_of(n.operands.begin(), n.operands.end(), tensor) ||
         !std::all_of(n.results.begin(), n.results.end(), tensor);
}

}  // namespace

bool has_subprograms(std::string_view op) { return op == "while" || op == "if" || op == "scan" || op == "checkpoint"; }

FlatRegion flatten(const Graph& from, RegionId region, const Registry& registry,
                   const std::set<std::string_view>& opened) {
  FlatRegion out{Graph("flat"), std::vector<ValueId>(from.value_count(), -1), {}};
  out.graph.symbols = from.symbols;
  Builder b(out.graph, registry);
  const auto copies = [&](ValueId source, ValueId copy) {
    out.at[static_cast<std::size_t>(source)] = copy;
    out.whole.resize(out.graph.value_count(), -1);
    if (ValueId& first = out.whole[static_cast<std::size_t>(copy)]; first < 0) first = source;
  };
  const Region& r = from.region(region);
  for (ValueId v : r.arguments) copies(v, b.input(from.type(v), "").id);
  for (std::size_t i = 0; i < r.nodes.size(); ++i) {
    const Node& n = from.node(r.nodes[i]);
    b.set_origin(static_cast<std::int32_t>(i));
    if (is_left_out(from, n)) {
      for (ValueId v : n.results) copies(v, b.input(from.type(v), "").id);
      continue;
    }
    Values in;
    for (ValueId v : n.operands) in.push_back(b.value(out.at[static_cast<std::size_t>(v)]));
    const Values made = opened.contains(n.op->name()) ? n.op->decompose(b, n.attrs, in) : b.clone(from, n, in);
    for (std::size_t k = 0; k < made.size(); ++k) copies(n.results[k], made[k].id);
  }
  out.whole.resize(out.graph.value_count(), -1);
  return out;
}

}  // namespace rlx::compile
