#include "compile/sizes/size_points.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/sizes.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace rlx::compile {
namespace {

bool has_token(const Graph& g, const std::vector<ValueId>& values) {
  return std::any_of(values.begin(), values.end(),
                     [&](ValueId v) { return std::holds_alternative<TokenType>(g.type(v)); });
}

/// Where the node that introduces an unbounded size stands in the top region.
std::optional<std::size_t> place_of_size(const Graph& g, bool exact) {
  const std::vector<NodeId>& nodes = g.region(Graph::top).nodes;
  SymbolTable symbols = g.symbols;  // With the bounds of sizes so far, on which later ones may depend.
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = g.node(nodes[i]);
    const std::string size = n.op->introduces(n.attrs);
    if (size.empty()) continue;
    const SizeBounds limits = size_bounds(symbols, n, n.attrs, g.types_of(n.operands));
    if (exact || !limits.finite()) return i;
    symbols[size] = {limits.lower, limits.upper, 1};
  }
  return {};
}

class Splitter {
 public:
  Splitter(const Graph& g, const Registry& registry, std::size_t at)
      : g_(g), registry_(registry), nodes_(g.region(Graph::top).nodes), at_(at) {}

  SizePoint run() {
    choose_head();
    const Node& n = g_.node(nodes_[at_]);
    SizePoint p{n.op->introduces(n.attrs), Graph(g_.name), Graph(g_.name)};
    p.row = n.origin;
    Part head(*this, p.head, p.head_inputs), tail(*this, p.tail, p.tail_inputs);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (in_head_.contains(nodes_[i])) head.add(nodes_[i]);
    // The tail asks for what it needs of the head while it is filled.
    tail.from_head = [&](ValueId v) {
      head.builder.output(head.at(v), "v" + std::to_string(p.head.outputs().size()));
      return p.head.outputs().size() - 1;
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!in_head_.contains(nodes_[i])) tail.add(nodes_[i]);
    for (std::size_t i = 0; i < g_.outputs().size(); ++i)
      tail.builder.output(tail.at(g_.outputs()[i]), g_.output_names[i]);
    Values operands;
    for (ValueId v : n.operands) operands.push_back(head.at(v));
    head.builder.set_origin(n.origin);
    head.builder.set_location(n.location);
    head.builder.output(n.op->count(head.builder, n.attrs, operands), "size " + p.symbol);
    rows_of(p.head, Graph::top, p.head_rows);
    rows_of(p.tail, Graph::top, p.tail_rows);
    return p;
  }

 private:
  /// One of the two graphs. What it needs of the other one, or of the whole graph's arguments, becomes an input.
  struct Part {
    Part(Splitter& s, Graph& graph, std::vector<SizePoint::Source>& sources)
        : splitter(s), builder(graph, s.registry_), inputs(sources) {
      graph.symbols = s.g_.symbols;
    }
    Value at(ValueId v) {
      if (const auto it = map.find(v); it != map.end()) return it->second;
      const ValueInfo& info = splitter.g_.value(v);
      const bool argument = info.node < 0;
      // What is as long as a size of the head is not handed over but made again: the tail would not know how long it
      // is.
      std::set<std::string> symbols;
      collect_symbols(info.type, symbols);
      if (splitter.of_head(symbols)) {
        add(info.node);
        return map.at(v);
      }
      const SizePoint::Source from{!argument, argument ? static_cast<std::size_t>(info.index) : from_head(v)};
      inputs.push_back(from);
      const std::string name = argument ? splitter.g_.input_names[from.index] : "head " + std::to_string(from.index);
      return map[v] = builder.input(info.type, name);
    }
    void add(NodeId id) {
      const Node& n = splitter.g_.node(id);
      if (!n.results.empty() && map.contains(n.results[0])) return;
      if (from_head) introduce(n);
      Values operands;
      for (ValueId v : n.operands) operands.push_back(at(v));
      builder.set_origin(n.origin);
      const Values out = builder.clone(splitter.g_, n, operands);
      for (std::size_t i = 0; i < out.size(); ++i) map[n.results[i]] = out[i];
    }
    /// Sizes of the head that the node depends on, if by name alone.
    void introduce(const Node& n) {
      for (const std::string& s : splitter.symbols_of(n))
        if (const auto it = splitter.sizes_of_head_.find(s);
            it != splitter.sizes_of_head_.end() && &splitter.g_.node(it->second) != &n)
          add(it->second);
    }
    Splitter& splitter;
    Builder builder;
    std::vector<SizePoint::Source>& inputs;
    std::map<ValueId, Value> map{};
    std::function<std::size_t(ValueId)> from_head{};
  };

  bool of_head(const std::set<std::string>& symbols) const {
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const std::string& s) { return sizes_of_head_.contains(s); });
  }

  /// What the count is computed from, and effects, whose order stays; the rest is the tail's, which then need not take
  /// it over.
  void choose_head() {
    std::set<ValueId> needed;
    std::set<std::string> sizes;  // By name alone, too.
    const auto need = [&](const Node& n) {
      needed.insert(n.operands.begin(), n.operands.end());
      sizes.merge(symbols_of(n));
    };
    needed.insert(g_.node(nodes_[at_]).operands.begin(), g_.node(nodes_[at_]).operands.end());
    for (std::size_t i = at_; i-- > 0;) {
      const Node& n = g_.node(nodes_[i]);
      const bool used = std::any_of(n.results.begin(), n.results.end(), [&](ValueId v) { return needed.contains(v); });
      if (!used && !sizes.contains(n.op->introduces(n.attrs)) && !has_token(g_, n.operands) &&
          !has_token(g_, n.results))
        continue;
      in_head_.insert(nodes_[i]);
      need(n);
    }
    for (const NodeId id : in_head_)
      if (std::string size = g_.node(id).op->introduces(g_.node(id).attrs); !size.empty())
        sizes_of_head_[std::move(size)] = id;
  }
  std::set<std::string> symbols_of(const Node& n) const {
    std::set<std::string> symbols;
    n.attrs.collect_symbols(symbols);
    for (ValueId v : n.results) collect_symbols(g_.type(v), symbols);
    return symbols;
  }

  // In the order in which rows are opened (open_rows.hpp).
  static void rows_of(const Graph& g, RegionId r, std::vector<int>& rows) {
    for (NodeId id : g.region(r).nodes) {
      const Node& n = g.node(id);
      rows.push_back(n.origin);
      if (const std::string_view op = n.op->name(); op == "while" || op == "if" || op == "scan")
        for (RegionId inner : n.regions) rows_of(g, inner, rows);
    }
  }

  const Graph& g_;
  const Registry& registry_;
  const std::vector<NodeId>& nodes_;
  const std::size_t at_;
  std::set<NodeId> in_head_;
  std::map<std::string, NodeId> sizes_of_head_;
};

}  // namespace

bool has_size_point(const Graph& hir, const Target& target, const CompileOptions& options) {
  return !target.interprets && target.size_points && place_of_size(hir, reads_exactly(options));
}

SizePoint first_size_point(const Graph& hir, const Registry& registry, const CompileOptions& options) {
  return Splitter(hir, registry, place_of_size(hir, reads_exactly(options)).value()).run();
}

Graph bounded_tail(const SizePoint& point, std::int64_t capacity) {
  Graph g = point.tail;
  SymbolInfo& info = g.symbols[point.symbol];
  info.upper = std::min(info.upper, capacity);
  return g;
}

std::int64_t rounded_capacity(std::int64_t count) {
  constexpr std::int64_t least = 16;
  if (count <= least) return least;
  const int shift = std::bit_width(static_cast<std::uint64_t>(count - 1)) - 4;
  return (((count - 1) >> shift) + 1) << shift;
}

}  // namespace rlx::compile
