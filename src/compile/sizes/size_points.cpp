#include "compile/sizes/size_points.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/sizes.hpp>
#include <rlx/ops/build.hpp>

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

/// Where the node that introduces an unbounded size stands in the top region, with the bounds of sizes before it, as
/// their buffers have them (bound_sizes.hpp).
struct PlaceOfSize {
  std::size_t at;
  SymbolTable symbols;
};
std::optional<PlaceOfSize> place_of_size(const Graph& g, bool exact) {
  const std::vector<NodeId>& nodes = g.region(Graph::top).nodes;
  PlaceOfSize place{0, g.symbols};
  for (; place.at < nodes.size(); ++place.at) {
    const Node& n = g.node(nodes[place.at]);
    const std::string size = n.op->introduces(n.attrs);
    if (size.empty()) continue;
    const SizeBounds limits = size_bounds(place.symbols, n, n.attrs, g.types_of(n.operands));
    if (exact || !limits.finite()) return place;
    place.symbols[size] = {limits.lower, std::max<std::int64_t>(limits.upper, 1), 1};
  }
  return {};
}

/// One of the two graphs: what it has of the whole graph, and where its inputs come from.
struct GraphPart {
  GraphPart(const Graph& of, Graph& graph, const Registry& registry, std::vector<SizePoint::Source>& sources,
            const std::string& size)
      : whole(of), builder(graph, registry), inputs(sources), symbol(size) {
    graph.symbols = of.symbols;
  }
  bool has(ValueId v) const { return map.contains(v); }
  Value at(ValueId v) const { return map.at(v); }
  Value input(const Type& t, SizePoint::Source from) {
    inputs.push_back(from);
    return builder.input(
        t, from.of_head ? "before " + symbol + " " + std::to_string(from.index) : whole.input_names[from.index]);
  }
  Value argument(ValueId v) {
    const ValueInfo& info = whole.value(v);
    return map[v] = input(info.type, {false, static_cast<std::size_t>(info.index)});
  }
  void add(const Node& n) {
    Values operands;
    for (ValueId v : n.operands) operands.push_back(at(v));
    builder.set_origin(n.origin);
    const Values out = builder.clone(whole, n, operands);
    for (std::size_t i = 0; i < out.size(); ++i) map[n.results[i]] = out[i];
  }

  const Graph& whole;
  Builder builder;
  std::vector<SizePoint::Source>& inputs;
  const std::string& symbol;  // Of the size between the parts.
  std::map<ValueId, Value> map{};
};

class GraphSplitter {
 public:
  GraphSplitter(const Graph& g, const Registry& registry, PlaceOfSize place)
      : g_(g),
        nodes_(g.region(Graph::top).nodes),
        at_(place.at),
        symbols_(std::move(place.symbols)),
        point_{size_node().op->introduces(size_node().attrs), Graph(g.name), Graph(g.name)},
        head_(g, point_.head, registry, point_.head_inputs, point_.symbol),
        tail_(g, point_.tail, registry, point_.tail_inputs, point_.symbol) {}

  SizePoint run() && {
    choose_head();
    const Node& n = size_node();
    point_.row = n.origin;
    for (const NodeId id : nodes_)
      if (in_head_.contains(id)) {
        for (ValueId v : g_.node(id).operands) in_head(v);
        head_.add(g_.node(id));
      }
    // The tail asks for what it needs of the head while it is filled.
    for (const NodeId id : nodes_)
      if (!in_head_.contains(id)) add_to_tail(g_.node(id));
    for (std::size_t i = 0; i < g_.outputs().size(); ++i)
      tail_.builder.output(in_tail(g_.outputs()[i]), g_.output_names[i]);
    Values operands;
    for (ValueId v : n.operands) operands.push_back(in_head(v));
    head_.builder.set_origin(n.origin);
    head_.builder.set_location(n.location);
    head_.builder.output(n.op->count(head_.builder, n.attrs, operands), "size " + point_.symbol);
    rows_of(point_.head, Graph::top, point_.head_rows);
    rows_of(point_.tail, Graph::top, point_.tail_rows);
    return std::move(point_);
  }

 private:
  const Node& size_node() const { return g_.node(nodes_[at_]); }

  Value in_head(ValueId v) { return head_.has(v) || g_.value(v).node >= 0 ? head_.at(v) : head_.argument(v); }

  Value in_tail(ValueId v) {
    if (tail_.has(v)) return tail_.at(v);
    const NodeId node = g_.value(v).node;
    if (node < 0) return tail_.argument(v);
    if (is_handed_over(node)) return tail_.map[v] = handed_over(v);
    add_to_tail(g_.node(node));
    return tail_.at(v);
  }
  void add_to_tail(const Node& n) {
    if (!n.results.empty() && tail_.has(n.results[0])) return;
    introduced_.insert(n.op->introduces(n.attrs));
    for (const std::string& s : sizes_of(n)) introduce(s);
    for (ValueId v : n.operands) in_tail(v);
    tail_.add(n);
  }

  // --- From the head to the tail. What has sizes of the head comes in the buffer of their bounds, and what lies beyond
  // the counts, which come too, is cut off.
  Value handed_over(ValueId v) {
    const std::size_t output = from_head(head_.at(v));
    const Type& t = g_.type(v);
    const Value whole = tail_.input(substitute(t, capacities_), {true, output});
    if (is_constant(t)) return whole;
    std::set<std::string> sizes;
    collect_symbols(t, sizes);
    for (const std::string& s : sizes) introduce(s);
    const Shape& shape = std::get<TensorType>(t).shape;
    const Node& n = g_.node(g_.value(v).node);
    tail_.builder.set_origin(n.origin), tail_.builder.set_location(n.location);
    return ops::slice(whole, std::vector<Dim>(shape.size(), 0), shape);
  }
  std::size_t from_head(Value v) {
    head_.builder.output(v, "v" + std::to_string(point_.head.outputs().size()));
    return point_.head.outputs().size() - 1;
  }
  /// A size of the head is that of as many copies of one element as the head has counted.
  void introduce(const std::string& size) {
    if (introduced_.contains(size)) return;
    const NodeId node = sizes_of_head_.at(size);
    if (!is_handed_over(node)) return add_to_tail(g_.node(node));
    introduced_.insert(size);
    head_.builder.set_origin(-1), tail_.builder.set_origin(-1);
    const std::size_t output = from_head(ops::dim_size(head_.builder, Dim::symbol(size)));
    const Value count = tail_.input(tensor(DType::i64, {}), {true, output});
    point_.tail.symbols[size] = symbols_.at(size);
    ops::repeat(ops::reshape(count, {1}), Dim::symbol(size));
  }

  /// Whether results of a node of the head are: not what is made of nothing, and not what no buffer of the bounds
  /// holds.
  bool is_handed_over(NodeId id) const {
    if (!in_head_.contains(id) || made_of_nothing_.contains(id)) return false;
    const Node& n = g_.node(id);
    return std::all_of(n.results.begin(), n.results.end(), [&](ValueId v) {
      if (is_constant(g_.type(v))) return true;
      const auto* t = std::get_if<TensorType>(&g_.type(v));
      return t && std::all_of(t->shape.begin(), t->shape.end(),
                              [&](const Dim& d) { return bounds(d, symbols_).upper <= d.evaluate(capacities_); });
    });
  }
  /// Constants, positions, numbers of sizes, and what is taken from them by position or computed one by one: cheaper to
  /// make than to store and load.
  bool is_made_of_nothing(const Node& n) const {
    return n.op->is_primitive() && n.regions.empty() && !has_token(g_, n.results) &&
           (n.operands.empty() || n.op->has_trait(Trait::elementwise) || n.op->has_trait(Trait::indexing)) &&
           std::all_of(n.operands.begin(), n.operands.end(),
                       [&](ValueId v) { return made_of_nothing_.contains(g_.value(v).node); });
  }

  /// Sizes of the head that the node depends on, if by name alone.
  std::set<std::string> sizes_of(const Node& n) const {
    std::set<std::string> sizes = symbols_of(n);
    std::erase_if(sizes, [&](const std::string& s) { return !sizes_of_head_.contains(s); });
    return sizes;
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
      if (std::string size = g_.node(id).op->introduces(g_.node(id).attrs); !size.empty()) {
        capacities_[size] = symbols_.at(size).upper;
        sizes_of_head_[std::move(size)] = id;
      }
    for (const NodeId id : nodes_)
      if (is_made_of_nothing(g_.node(id))) made_of_nothing_.insert(id);
  }
  std::set<std::string> symbols_of(const Node& n) const {
    std::set<std::string> symbols;
    collect(n, symbols);
    return symbols;
  }
  void collect(const Node& n, std::set<std::string>& symbols) const {
    n.attrs.collect_symbols(symbols);
    for (ValueId v : n.results) collect_symbols(g_.type(v), symbols);
    for (RegionId r : n.regions)
      for (NodeId inner : g_.region(r).nodes) collect(g_.node(inner), symbols);
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
  const std::vector<NodeId>& nodes_;
  const std::size_t at_;
  const SymbolTable symbols_;
  SizePoint point_;
  GraphPart head_, tail_;
  std::set<NodeId> in_head_, made_of_nothing_;
  std::map<std::string, NodeId> sizes_of_head_;
  Bindings capacities_;               // Of these.
  std::set<std::string> introduced_;  // In the tail.
};

}  // namespace

bool has_size_point(const Graph& hir, const Target& target, const CompileOptions& options) {
  return !target.interprets() && target.size_points && place_of_size(hir, reads_exactly(options));
}

SizePoint first_size_point(const Graph& hir, const Registry& registry, const CompileOptions& options) {
  return GraphSplitter(hir, registry, place_of_size(hir, reads_exactly(options)).value()).run();
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
  const std::int64_t rounded = (((count - 1) >> shift) + 1) << shift;
  // What i32 counts goes no further, for operators whose results are counts and places of that type.
  return count <= INT32_MAX ? std::min<std::int64_t>(rounded, INT32_MAX) : rounded;
}

}  // namespace rlx::compile
