#include "compile/sizes/bound_sizes.hpp"

#include "compile/count_check.hpp"
#include "compile/sizes/rules.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ir/sizes.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>
#include <set>
#include <unordered_set>

namespace rlx::compile {
namespace {

bool has_subprogram(const Node& n) {
  const std::string_view op = n.op->name();
  return op == "while" || op == "if" || op == "scan" || op == "checkpoint";
}

class Bounder {
 public:
  Bounder(const Graph& hir, const Registry& registry, const Target& target, const CompileOptions& options,
          DispatchReport& report, BoundedGraph& out)
      : hir_(hir), target_(target), options_(options), report_(report), out_(out), b_(out.graph, registry) {
    known_.symbols = hir.symbols;
    for (const auto& [symbol, node] : size_nodes(hir)) names_.insert(symbol);
    find_reads(Graph::top);
  }

  void run() {
    Values in;
    for (std::size_t i = 0; i < hir_.inputs().size(); ++i)
      in.push_back(b_.input(hir_.type(hir_.inputs()[i]), hir_.input_names[i]));
    const Values results = region(hir_, Graph::top, in);
    for (std::size_t i = 0; i < results.size(); ++i) b_.output(results[i], hir_.output_names[i]);
    for (const auto& [symbol, count] : known_.counts) {
      b_.output(count, "size " + symbol);
      out_.sizes.push_back({symbol, known_.capacities.at(symbol)});
    }
  }

 private:
  Values region(const Graph& g, RegionId r, ValuesIn arguments) {
    return transcribe(g, r, arguments, [&](const Node& n, ValuesIn operands) { return node(g, n, operands); });
  }

  // Nodes of decompositions belong to the row of the node that is decomposed, which is set already.
  Values node(const Graph& g, const Node& n, ValuesIn in) {
    const auto origin = b_.origin();
    const Location location = b_.location();
    if (n.origin >= 0) b_.set_origin(n.origin), b_.set_location(n.location);
    Values out;
    try {
      out = emitted(g, n, in);
    } catch (const SizeRefusal& r) {
      out_.refused.emplace_back(b_.origin(), "inside: " + std::string(n.op->name()) + ": " + r.why);
      if (n.origin >= 0) out_.refused.back().second = r.why;
      out = placeholders(g, n);
    }
    b_.set_origin(origin);
    b_.set_location(location);
    return out;
  }

  Values emitted(const Graph& g, const Node& n, ValuesIn in) {
    if (const std::string size = n.op->introduces(n.attrs); !size.empty()) return introduce(g, n, in, size);
    if (has_subprogram(n)) return subprogram(g, n, in);
    const std::set<std::string> used = sizes_of(g, n);
    if (used.empty()) return b_.clone(g, n, in);
    guard(g, n);
    if (n.op->has_trait(Trait::padded)) return SizedNode(b_, g, n, in, known_, options_.checked).emit(in);
    if (n.op->meaning() == Meaning::composite) {
      resolved(Path::common, "decomposition");
      watch(g, n, in);
      return decomposed(g, n, in, [&](Builder& b, ValuesIn x) { return n.op->decompose(b, n.attrs, x); });
    }
    const BoundRule rule = n.op->is_primitive() ? bound_rule(*n.op) : nullptr;
    if (!rule) throw SizeRefusal{"it has no form for a size that a result introduces (" + *used.begin() + ")"};
    const std::size_t before = b_.graph().node_count();
    Values out = rule(SizedNode(b_, g, n, in, known_, options_.checked));
    if (b_.graph().node_count() != before + 1) resolved(Path::rewritten, "bound_sizes");
    for (std::size_t i = 0; i < out.size(); ++i)
      if (const Type t = substitute(g.type(n.results[i]), known_.capacities); out[i].type() != t)
        throw InternalError("bound_sizes: " + std::string(n.op->name()) + " gave " + to_string(out[i].type()) +
                            ", expected " + to_string(t));
    return out;
  }

  /// The size becomes a capacity, its count is computed and watched.
  Values introduce(const Graph& g, const Node& n, ValuesIn in, const std::string& size) {
    const AnyAttrs attrs = n.attrs.substitute(known_.capacities);
    Types types;
    for (const Value& v : in) types.push_back(v.type());
    const SizeBounds limits = size_bounds(known_.symbols, n, attrs, types);
    if (!target_.bounded_sizes) throw SizeRefusal{target_.device + " takes no sizes that results introduce"};
    if (!limits.finite())
      throw SizeRefusal{"size " + size + " has no upper bound: declare one of the symbol, or give the attribute bound"};
    resolved(Path::rewritten, "bound_sizes");
    report_.add_note(b_.origin(), "size " + size + ": at most " + std::to_string(limits.upper));
    const Value found =
        decomposed(g, n, in, [&](Builder& b, ValuesIn x) { return Values{n.op->count(b, attrs, x)}; })[0];
    const std::string text = size_text(n.op->name(), size, limits, n.location);
    known_.counts[size] =
        ops::check_within(found, ops::dim_size(b_, limits.upper), {text, std::string(n.op->name()), limits.lower});
    // A buffer of one element at least, so that reading its first is always allowed.
    const std::int64_t capacity = std::max<std::int64_t>(limits.upper, 1);
    known_.capacities[size] = capacity;
    known_.symbols[size] = {limits.lower, capacity, 1};
    const bool is_read =
        &g != &hir_ || std::any_of(n.results.begin(), n.results.end(), [&](ValueId v) { return read_.contains(v); });
    const AnyAttrs whole = n.attrs.substitute(known_.capacities);
    if (is_read && sizes_of(g, n, false).empty()) return b_.emit(n.op->name(), in, whole);
    watch(g, n, in);
    if (!is_read) return Values(n.results.size());  // Only its size is asked for.
    return decomposed(g, n, in, [&](Builder& b, ValuesIn x) { return n.op->decompose(b, whole, x); });
  }

  /// In checked mode, what dispatch says of the counts of a node that it does not come to see.
  void watch(const Graph& g, const Node& n, ValuesIn in) {
    if (!options_.checked || !takes_counts(n) || b_.origin() < 0) return;
    Node with_row = n;
    with_row.origin = b_.origin();
    const Value counts = SizedNode(b_, g, n, in, known_, true).masked(0, {0}, 0);
    watch_counts(with_row, {&counts, 1});
  }

  /// What `fill` emits on operands of the types as written is bounded in turn.
  Values decomposed(const Graph& g, const Node& n, ValuesIn in, const std::function<Values(Builder&, ValuesIn)>& fill) {
    Graph body(std::string(n.op->name()));
    body.symbols = known_.symbols;
    Builder b(body, b_.registry());
    b.set_location(b_.location());
    Values arguments;
    for (ValueId v : n.operands) arguments.push_back(b.input(g.type(v), ""));
    for (const Value& v : fill(b, arguments)) b.output(v, "");
    return region(body, Graph::top, in);
  }

  // --- Regions that run as programs of their own see the counts as further invariants.
  Values subprogram(const Graph& g, const Node& n, ValuesIn in) {
    std::vector<std::string> used;
    std::set<std::string> inside;
    for (RegionId r : n.regions) collect_region(g, r, inside);
    for (const auto& [symbol, count] : known_.counts)
      if (inside.contains(symbol)) used.push_back(symbol);
    if (const auto* scan = n.attrs.get_if<ops::ScanAttrs>(); scan && !scan->length.is_constant())
      return sized_scan(g, n, in, *scan, used);
    Values operands(in.begin(), in.end());
    for (const std::string& s : used) operands.push_back(known_.counts.at(s));
    std::vector<RegionBody> bodies;
    for (RegionId r : n.regions)
      bodies.push_back([&, r](ValuesIn a) {
        return with_counts(a.last(used.size()), used, [&] { return region(g, r, a.first(a.size() - used.size())); });
      });
    return b_.emit(n.op->name(), operands, n.attrs.substitute(known_.capacities), bodies);
  }

  /// Fills a region, where `counts` stand for the sizes of these names. Sizes that it introduces end with it: another
  /// region may use their names for sizes of its own.
  Values with_counts(ValuesIn counts, const std::vector<std::string>& names, const std::function<Values()>& fill) {
    struct Restore {
      Bounder& of;
      Sizes known = of.known_;
      std::set<std::string> guarded = of.guarded_;
      decltype(b_.origin()) origin = of.b_.origin();
      ~Restore() {
        std::swap(of.known_, known);
        std::swap(of.guarded_, guarded);
        of.b_.set_origin(origin);
      }
    } restore{*this};
    known_.counts.clear();
    for (std::size_t i = 0; i < names.size(); ++i) known_.counts[names[i]] = counts[i];
    return fill();
  }

  // Trips beyond the count leave the state as it is. The trip's number comes as one more sequence.
  Values sized_scan(const Graph& g, const Node& n, ValuesIn in, ops::ScanAttrs a, std::vector<std::string> used) {
    for (const std::string& s : a.length.symbols())
      if (std::find(used.begin(), used.end(), s) == used.end()) used.push_back(s);
    const auto carried = static_cast<std::size_t>(a.carried), walked = carried + static_cast<std::size_t>(a.sequences);
    for (std::size_t i = 0; i < carried; ++i)
      if (!std::holds_alternative<TensorType>(in[i].type())) throw SizeRefusal{"its state is no tensor"};
    const Dim length = a.length, trips = SizedNode(b_, g, n, in, known_, false).capacity(length);
    Values operands(in.begin(), in.end());
    operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(walked), ops::iota(b_, DType::i64, {trips}, 0));
    for (const std::string& s : used) operands.push_back(known_.counts.at(s));
    const RegionBody body = [&](ValuesIn v) {
      Values arguments(v.begin(), v.end() - static_cast<std::ptrdiff_t>(used.size()));
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(walked));
      return with_counts(v.last(used.size()), used, [&] {
        Values next = region(g, n.regions[0], arguments);
        const Value count = SizedNode(b_, g, n, arguments, known_, false).value(length);
        const Value runs = ops::compare(v[walked], count, ops::Direction::lt);
        for (std::size_t i = 0; i < carried; ++i)
          next[i] = ops::select(ops::broadcast(runs, next[i].shape(), {}), next[i], v[i]);
        return next;
      });
    };
    resolved(Path::rewritten, "bound_sizes");
    a.sequences += 1;
    a.length = trips;
    return b_.emit("scan", operands, a, {&body, 1});
  }

  // --- Constraints that hold for some counts only are watched; an empty result needs nothing.
  void guard(const Graph& g, const Node& n) {
    std::vector<RegionType> regions;
    for (RegionId r : n.regions)
      regions.push_back({g.types_of(g.region(r).arguments), g.types_of(g.region(r).results)});
    const Types types = g.types_of(n.operands);
    const Answer a = n.op->check(n.attrs, Signature{types, regions, &known_.symbols});
    const SizedNode sized(b_, g, n, {}, known_, false);
    for (const Predicate& p : a.predicates) {
      if (!sized.varies(p.lhs - p.rhs)) continue;
      Dim elements = 0;
      for (ValueId v : n.results)
        if (const auto* t = std::get_if<TensorType>(&g.type(v))) elements = elements + t->numel();
      const std::string text = std::string(n.op->name()) + " needs " + p.to_string();
      if (!guarded_.insert(text + " for " + elements.to_string()).second) continue;
      // The slack of the condition, where there is a result.
      const Value zero = ops::dim_size(b_, 0);
      const Value none = ops::compare(sized.value(elements), zero, ops::Direction::eq);
      const Value slack = ops::select(none, zero, sized.value(p.rhs - p.lhs));
      const Value most = p.relation == Relation::equal ? zero : ops::dim_size(b_, INT64_MAX);
      ops::check_within(slack, most, {text + ": what the right side has more", std::string(n.op->name())});
    }
  }

  /// Introduced sizes that the node's types and attributes depend on.
  std::set<std::string> sizes_of(const Graph& g, const Node& n, bool with_results = true) const {
    std::set<std::string> all;
    for (ValueId v : n.operands) collect_symbols(g.type(v), all);
    if (with_results) {
      for (ValueId v : n.results) collect_symbols(g.type(v), all);
      n.attrs.collect_symbols(all);
    }
    std::erase_if(all, [&](const std::string& s) { return !names_.contains(s); });
    return all;
  }
  static void collect_region(const Graph& g, RegionId r, std::set<std::string>& symbols) {
    for (ValueId v : g.region(r).arguments) collect_symbols(g.type(v), symbols);
    for (NodeId id : g.region(r).nodes) {
      const Node& n = g.node(id);
      for (ValueId v : n.results) collect_symbols(g.type(v), symbols);
      n.attrs.collect_symbols(symbols);
      for (RegionId inner : n.regions) collect_region(g, inner, symbols);
    }
  }

  /// Lets the walk go on, so that one error can list every node that is refused.
  Values placeholders(const Graph& g, const Node& n) {
    Values out;
    for (ValueId v : n.results) {
      std::set<std::string> symbols;
      collect_symbols(g.type(v), symbols);
      for (const std::string& s : symbols)
        if (!known_.capacities.contains(s)) {
          known_.capacities[s] = 1;
          known_.counts[s] = ops::dim_size(b_, 0);
          known_.symbols[s] = {0, 1, 1};
        }
      const Type t = substitute(g.type(v), known_.capacities);
      const auto* x = std::get_if<TensorType>(&t);
      if (!x) throw ArgumentError(std::string(n.op->name()) + ": " + out_.refused.back().second);
      out.push_back(ops::full(b_, x->dtype, x->shape, 0));
    }
    return out;
  }

  void find_reads(RegionId r) {
    read_.insert(hir_.region(r).results.begin(), hir_.region(r).results.end());
    for (NodeId id : hir_.region(r).nodes) {
      const Node& n = hir_.node(id);
      read_.insert(n.operands.begin(), n.operands.end());
      for (RegionId inner : n.regions) find_reads(inner);
    }
  }

  /// What the node became, before dispatch resolves what it became.
  void resolved(Path path, std::string_view how) {
    if (b_.origin() < 0) return;
    ReportRow& row = report_.rows.at(static_cast<std::size_t>(b_.origin()));
    if (!row.lowering.empty()) return;
    row.path = path;
    row.lowering = how;
  }

  const Graph& hir_;
  const Target& target_;
  const CompileOptions& options_;
  DispatchReport& report_;
  BoundedGraph& out_;
  Builder b_;
  Sizes known_;
  std::set<std::string> names_;  // Of all introduced sizes.
  std::unordered_set<ValueId> read_;
  std::set<std::string> guarded_;  // What is watched already where the walk stands.
};

}  // namespace

BoundedGraph bound_sizes(const Graph& hir, const Registry& registry, const Target& target,
                         const CompileOptions& options, DispatchReport& report) {
  BoundedGraph out{Graph(hir.name)};
  Bounder(hir, registry, target, options, report, out).run();
  return out;
}

}  // namespace rlx::compile
