// Linear in the number of nodes, operands and results: each region, node and value is looked at once, where the text
// would show it. Rules of single nodes are check_node's. What buffers and steps of a LIR program owe each other needs
// the target and the report: src/compile/lir/verify_program.hpp.
#include "ir/node_check.hpp"

#include <rlx/ir/located.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>

#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace rlx {

namespace {

class Verifier {
 public:
  Verifier(const Graph& g, Level level, DTypeSet storage)
      : g_(g),
        level_(level),
        storage_(storage),
        scope_(g.value_count()),
        region_seen_(g.region_count()),
        node_seen_(g.node_count()) {
    for (const auto& [symbol, node] : size_nodes(g)) sizes_[symbol] = Scope::undefined;
  }

  void graph() {
    names(g_.input_names, g_.inputs(), "input");
    names(g_.output_names, g_.outputs(), "output");
    for (const auto& [name, info] : g_.symbols)
      if (info.lower > info.upper || info.divisor < 1) refuse("symbols", "symbol " + name + " can take no value");
    region(Graph::top, -1);
  }

 private:
  enum class Scope : std::uint8_t { undefined, open, closed };

  /// Names the node being looked at, or the graph.
  [[noreturn]] void refuse(const std::string& rule, const std::string& why) const {
    if (!node_) throw VerifyError("graph", rule, "graph " + g_.name + ": " + rule + ": " + why);
    const std::string op = node_->op ? std::string(node_->op->name()) : "node " + std::to_string(node_id_);
    throw located(op, rule, op + ": " + rule + ": " + why);
  }
  LocatedVerifyError located(const std::string& op, const std::string& rule, const std::string& message) const {
    std::string node;  // "%17", as print shows it
    for (ValueId v : node_->results) node += (node.empty() ? "" : ", ") + value_name(v);
    const Location& at = node_->location;
    return {op,
            rule,
            (node.empty() ? "" : node + " = ") + message + (at.file.empty() ? "" : "  " + at.to_string()),
            {at.file, at.line, node}};
  }
  std::string value_name(ValueId v) const {
    const std::vector<std::int32_t> numbers = print_numbers(g_);  // only on the way to an error
    const bool known = is_value(v) && numbers[static_cast<std::size_t>(v)] >= 0;
    return "%" + (known ? std::to_string(numbers[static_cast<std::size_t>(v)]) : "?" + std::to_string(v));
  }

  bool is_value(ValueId v) const { return v >= 0 && static_cast<std::size_t>(v) < g_.value_count(); }
  Scope& scope(ValueId v) { return scope_[static_cast<std::size_t>(v)]; }

  void names(const std::vector<std::string>& names, const std::vector<ValueId>& values, const std::string& what) {
    if (names.size() != values.size())
      refuse("names", counted(values.size(), what) + " with " + counted(names.size(), "name"));
    std::set<std::string_view> seen;
    for (const std::string& n : names)
      if (!seen.insert(n).second) refuse("names", what + " \"" + n + "\" is there twice");
  }

  // --- Sizes: a symbol that a node introduces stands for its result's size from there to the end of the region.
  void known(const std::set<std::string>& symbols, const std::string& what) const {
    for (const std::string& s : symbols) {
      const auto it = sizes_.find(s);
      if (it == sizes_.end() || it->second == Scope::open) continue;
      refuse("sizes", what + " depends on size " + s +
                          (it->second == Scope::undefined ? " before the node that introduces it"
                                                          : ", which is introduced in another region"));
    }
  }
  void check_type(ValueId v, const char* what) const {
    if (!is_value(v)) return;
    if (const auto* t = std::get_if<TensorType>(&g_.type(v)); t && t->space != Space::value && level_ != Level::lir)
      refuse("level", what + std::string(" ") + value_name(v) + " is a buffer, " + to_string(g_.type(v)) +
                          ", which belongs to LIR");
    if (level_ != Level::hir && sharding(g_.type(v)))
      refuse("sharding", what + std::string(" ") + value_name(v) + " is spread over ranks, " + to_string(g_.type(v)) +
                             ", where a program is that of one rank: no pass shards here");
    if (level_ == Level::mir) check_storage(v, what);
    if (sizes_.empty()) return;
    std::set<std::string> symbols;
    collect_symbols(g_.type(v), symbols);
    known(symbols, what + std::string(" ") + value_name(v));
  }
  /// Of inputs alone: the entries of a result may be a bound on a size that is known when it runs.
  void check_entries(ValueId v) const {
    const auto* s = std::get_if<SparseType>(&g_.type(v));
    if (!s || !s->entries.is_constant() || !is_constant(s->shape) || s->shape.size() != 2) return;
    const std::int64_t rows = s->shape[0].constant(), columns = s->shape[1].constant(), entries = s->entries.constant();
    std::int64_t places = 0;
    if (__builtin_mul_overflow(rows, columns, &places) || entries <= places) return;
    refuse("entries", "input " + value_name(v) + " is " + to_string(*s) + ", which has " + counted(places, "place") +
                          " for " + counted(entries, "entry", "entries"));
  }
  void check_storage(ValueId v, const char* what) const {
    const auto check = [&](DType t) {
      if (storage_.contains(t)) return;
      refuse("dtype", what + std::string(" ") + value_name(v) + " is " + to_string(g_.type(v)) +
                          ", and the target stores " + storage_.to_string());
    };
    if (const auto* t = std::get_if<TensorType>(&g_.type(v))) check(t->dtype);
    if (const auto* s = std::get_if<SparseType>(&g_.type(v))) check(s->dtype), check(s->index);
  }
  void introduce(const Node& n, std::vector<std::string>& here) {
    if (sizes_.empty()) return;
    const std::string symbol = n.op->introduces(n.attrs);
    if (!symbol.empty()) {
      if (sizes_[symbol] == Scope::open) refuse("sizes", "size " + symbol + " is introduced by another node already");
      if (const auto it = g_.symbols.find(symbol); it != g_.symbols.end() && it->second.divisor != 1)
        refuse("sizes", "size " + symbol + " cannot have a divisor: it is whatever comes out");
      sizes_[symbol] = Scope::open;
      here.push_back(symbol);
    }
    std::set<std::string> symbols;
    n.attrs.collect_symbols(symbols);
    known(symbols, "an attribute");
  }

  void define(ValueId v, NodeId node, std::size_t index, RegionId region) {
    if (!is_value(v)) refuse("structure", "there is no value " + std::to_string(v));
    const ValueInfo& info = g_.value(v);
    if (info.node != node || info.index != static_cast<std::int32_t>(index) || info.region != region)
      refuse("structure", value_name(v) + " does not say where it is defined");
    if (scope(v) != Scope::undefined) refuse("structure", value_name(v) + " is defined twice");
    scope(v) = Scope::open;
  }

  void use(ValueId v, RegionId region) {
    if (!is_value(v)) refuse("structure", "there is no value " + std::to_string(v));
    if (scope(v) == Scope::undefined) refuse("scope", value_name(v) + " is used before its definition");
    if (scope(v) == Scope::closed) refuse("scope", value_name(v) + " belongs to another region");
    if (level_ != Level::lir && g_.value(v).region != region)
      refuse("closed", value_name(v) + " is of an outer region, which only LIR may use");
  }

  void region(RegionId r, NodeId owner) {
    if (r < 0 || static_cast<std::size_t>(r) >= region_seen_.size())
      refuse("structure", "there is no region " + std::to_string(r));
    if (region_seen_[static_cast<std::size_t>(r)])
      refuse("structure", "region " + std::to_string(r) + " has two owners");
    if (depth_ > max_nesting)
      refuse("nesting", "more than " + std::to_string(max_nesting) + " regions inside each other");
    region_seen_[static_cast<std::size_t>(r)] = true;
    ++depth_;
    const Region& here = g_.region(r);
    const Node* outer = std::exchange(node_, owner < 0 ? nullptr : &g_.node(owner));
    const NodeId outer_id = std::exchange(node_id_, owner);
    if (here.owner != owner) refuse("structure", "region " + std::to_string(r) + " does not know its owner");
    for (std::size_t i = 0; i < here.arguments.size(); ++i) {
      define(here.arguments[i], -1, i, r);
      check_type(here.arguments[i], r == Graph::top ? "input" : "argument");
      if (r == Graph::top) check_entries(here.arguments[i]);
    }
    std::vector<std::string> introduced;
    for (NodeId n : here.nodes) node(n, r, introduced);
    node_ = owner < 0 ? nullptr : &g_.node(owner);
    node_id_ = owner;
    for (ValueId v : here.results) use(v, r);
    for (ValueId v : here.arguments) scope(v) = Scope::closed;
    for (NodeId n : here.nodes)
      for (ValueId v : g_.node(n).results) scope(v) = Scope::closed;
    for (const std::string& s : introduced) sizes_[s] = Scope::closed;
    node_ = outer;
    node_id_ = outer_id;
    --depth_;
  }

  void node(NodeId id, RegionId parent, std::vector<std::string>& introduced) {
    if (id < 0 || static_cast<std::size_t>(id) >= node_seen_.size())
      refuse("structure", "there is no node " + std::to_string(id));
    const Node& n = g_.node(id);
    node_ = &n;
    node_id_ = id;
    if (node_seen_[static_cast<std::size_t>(id)]) refuse("structure", "the node is there twice");
    node_seen_[static_cast<std::size_t>(id)] = true;
    if (!n.op) refuse("structure", "the node has no operator");
    if (n.parent != parent) refuse("structure", "the node does not know its region");
    for (ValueId v : n.operands) use(v, parent);
    for (RegionId r : n.regions) region(r, id);
    for (std::size_t i = 0; i < n.results.size(); ++i) define(n.results[i], id, i, parent);
    introduce(n, introduced);
    for (ValueId v : n.results) check_type(v, "result");
    if (*n.attrs.table().type != attributes_of(*n.op)) refuse("structure", "the attributes are of another operator");
    level_rules(n);
    types(n);
  }

  void level_rules(const Node& n) const {
    if (level_ == Level::lir) return;
    if (n.op->has_trait(Trait::lir)) refuse("level", "the operator belongs to LIR");
    if (level_ == Level::hir && !n.record.empty())
      refuse("record", "the record \"" + n.record + "\" is set, which HIR has not");
    if (level_ == Level::mir && n.record.empty() && !n.op->is_primitive())
      refuse("record", "the operator is no primitive and has no record");
  }

  void types(const Node& n) {
    std::vector<RegionType> regions;
    for (RegionId r : n.regions)
      regions.push_back({g_.types_of(g_.region(r).arguments), g_.types_of(g_.region(r).results)});
    const Types operands = g_.types_of(n.operands);
    Types inferred;
    try {
      inferred = check_node(*n.op, n.attrs, Signature{operands, regions, &g_.symbols});
    } catch (const VerifyError& e) { throw located(e.op(), e.constraint(), e.what()); }
    if (inferred.size() != n.results.size())
      refuse("arity", "gives " + counted(inferred.size(), "result") + ", but has " + std::to_string(n.results.size()));
    for (std::size_t i = 0; i < inferred.size(); ++i)
      if (g_.type(n.results[i]) != inferred[i])
        refuse("type", value_name(n.results[i]) + " has type " + to_string(g_.type(n.results[i])) + ", but is " +
                           to_string(inferred[i]));
  }

  const std::type_info& attributes_of(const Op& op) {
    const std::type_info*& type = attributes_[&op];
    if (!type) type = op.default_attrs().table().type;
    return *type;
  }

  const Graph& g_;
  Level level_;
  DTypeSet storage_;
  std::vector<Scope> scope_;
  std::vector<bool> region_seen_, node_seen_;
  std::unordered_map<const Op*, const std::type_info*> attributes_;
  std::map<std::string, Scope, std::less<>> sizes_;  // Of the symbols that nodes introduce; empty in most graphs.
  const Node* node_ = nullptr;
  NodeId node_id_ = -1;
  int depth_ = 0;
};

}  // namespace

void verify(const Graph& g, Level level, DTypeSet storage) { Verifier(g, level, storage).graph(); }

}  // namespace rlx
