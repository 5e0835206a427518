#include "compile/recognise/recognise.hpp"

#include "compile/choose_path.hpp"
#include "compile/recognise/flatten.hpp"
#include "compile/recognise/match.hpp"
#include "compile/recognise/pattern.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

namespace rlx::compile {
namespace {

class Recogniser {
 public:
  Recogniser(Graph& g, const Registry& registry, const Target& target, std::span<const KernelRecord> records,
             const CompileOptions& options, DispatchReport& report)
      : g_(g), registry_(registry), target_(target), choose_(target, records, options), report_(report) {
    for (const Pattern* p : patterns()) {
      const Op* op = registry.find(p->op);
      if (!op || op->meaning() != Meaning::composite) continue;
      for (std::string_view root : p->roots) by_root_[root].push_back(p);
      opened_.insert(p->op);
    }
    opened_.insert("stop_gradient");  // A node that gives its operand, once nothing is differentiated any more.
  }

  /// `row`: of the node that holds the region; -1: none.
  void region(RegionId r, std::int32_t row) {
    bool any = false;
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      any = any || by_root_.contains(n.op->name()) || opened_.contains(n.op->name());
      if (!has_subprograms(n.op->name())) continue;
      for (RegionId inner : n.regions) region(inner, n.origin >= 0 ? n.origin : row);
    }
    if (any) nodes_of(r, row);
  }

 private:
  // --- One region. Nodes are named by their place in it.
  struct Here {
    const std::vector<NodeId> nodes;
    const FlatRegion flat;
    std::unordered_map<NodeId, std::size_t> place;
    std::unordered_map<ValueId, std::vector<std::size_t>> uses;  // Places; nodes.size() for the region's results.
    std::vector<bool> gone;
  };

  void nodes_of(RegionId r, std::int32_t row) {
    Here here{g_.region(r).nodes, flatten(g_, r, registry_, opened_), {}, {}, {}};
    here.gone.resize(here.nodes.size());
    for (std::size_t i = 0; i < here.nodes.size(); ++i) {
      here.place[here.nodes[i]] = i;
      for (ValueId v : g_.node(here.nodes[i]).operands) here.uses[v].push_back(i);
    }
    for (ValueId v : g_.region(r).results) here.uses[v].push_back(here.nodes.size());
    // From the end, so that the largest of several hits within each other is found first.
    for (std::size_t i = here.nodes.size(); i-- > 0;)
      if (!here.gone[i]) root(here, i, row);
    std::size_t kept = 0;
    std::vector<NodeId>& list = g_.region(r).nodes;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!here.gone[i]) list[kept++] = list[i];
    list.resize(kept);
  }

  void root(Here& here, std::size_t at, std::int32_t row) {
    const Node& n = g_.node(here.nodes[at]);
    if (n.results.size() != 1) return;
    const Graph& flat = here.flat.graph;
    const ValueId result = here.flat.at[static_cast<std::size_t>(n.results[0])];
    const NodeId last = flat.value(result).node;
    if (last < 0 || flat.node(last).origin != static_cast<std::int32_t>(at)) return;
    NodeId base = last;  // What a reshape gives a shape: the operator may keep reduced dimensions, or not.
    while (flat.node(base).op->name() == "reshape" && flat.value(flat.node(base).operands[0]).node >= 0)
      base = flat.value(flat.node(base).operands[0]).node;
    const auto found = by_root_.find(flat.node(base).op->name());
    if (found == by_root_.end()) return;
    const Above above(flat, result);
    for (const Pattern* p : found->second)
      for (const Candidate& c : p->candidates(above)) {
        const Graph* written = written_out(*p, c, g_.type(n.results[0]));
        if (!written) continue;
        const auto visible = [&](ValueId v) { return here.flat.whole[static_cast<std::size_t>(v)] >= 0; };
        std::optional<std::vector<ValueId>> operands = match_graph(*written, flat, result, visible);
        if (!operands) continue;
        for (ValueId& v : *operands) v = here.flat.whole[static_cast<std::size_t>(v)];
        if (take(here, at, *p, c, *operands, row)) return;
      }
  }

  /// What the candidate looks like, one for all nodes of a graph that may be it; null where the operator refuses the
  /// instance, or takes it for some values of a symbol only, or has another result.
  const Graph* written_out(const Pattern& p, const Candidate& c, const Type& result) {
    std::string key(p.name);
    key += c.attrs.to_string() + " " + to_string(result);
    for (const Type& t : c.operands) key += " " + to_string(t);
    const auto [it, is_new] = written_.try_emplace(key);
    if (is_new) it->second = write_out(p, c, result);
    return it->second ? &*it->second : nullptr;
  }
  std::optional<Graph> write_out(const Pattern& p, const Candidate& c, const Type& result) const {
    const Op& op = registry_.get(p.op);
    Graph g("pattern");
    g.symbols = g_.symbols;
    Builder b(g, registry_);
    try {
      const AnyAttrs attrs = c.attrs.get_if<NoAttributes>() ? op.default_attrs() : c.attrs;
      const Signature signature{c.operands, {}, &g.symbols};
      if (!op.check(attrs, signature).predicates.empty() || op.infer(attrs, signature) != Types{result}) return {};
      Values in;
      for (const Type& t : c.operands) in.push_back(b.input(t, ""));
      for (const Value& v : p.form ? p.form(b, attrs, in) : op.decompose(b, attrs, in)) b.output(v, "");
    } catch (const VerifyError&) { return {}; } catch (const ArgumentError&) {  // Sizes beyond 64 bits.
      return {};
    }
    if (g.outputs().size() != 1) return {};
    FlatRegion flat = flatten(g, Graph::top, registry_, opened_);
    flat.graph.add_output(flat.at[static_cast<std::size_t>(g.outputs()[0])], "");
    return std::move(flat.graph);
  }

  // --- A hit.
  bool take(Here& here, std::size_t at, const Pattern& p, const Candidate& c, const std::vector<ValueId>& operands,
            std::int32_t row) {
    const auto is_operand = [&](ValueId v) { return std::find(operands.begin(), operands.end(), v) != operands.end(); };
    // From the root up to the operands, by place. Some are free: they may stay for others that use them.
    std::map<std::size_t, bool, std::greater<>> inside{{at, false}};
    for (auto it = inside.begin(); it != inside.end(); ++it) {
      if (here.gone[it->first] || inside.size() > most_nodes) return false;
      for (ValueId v : g_.node(here.nodes[it->first]).operands) {
        if (is_operand(v)) continue;
        const auto above = here.place.find(g_.value(v).node);
        if (above == here.place.end()) return false;
        inside.try_emplace(above->second, false);
      }
    }
    std::size_t works = 0;
    for (auto it = inside.rbegin(); it != inside.rend(); ++it) {
      const Node& n = g_.node(here.nodes[it->first]);
      for (ValueId v : n.results)
        if (is_operand(v)) return false;
      it->second = it->first != at && is_free(here, n, inside, is_operand);
      works += !it->second;
    }
    Node& root = g_.node(here.nodes[at]);
    if (works == 1 && root.op->name() == p.op) return false;  // It is that operator already.
    if (!is_worth_it(p, c, g_.types_of(root.results), works == 1)) return false;
    std::vector<std::size_t> gone;
    for (const auto& [i, free] : inside) {
      if (i == at) continue;
      const bool used = is_used_outside(here, i, at, gone);
      if (used && !free) return false;
      if (!used) gone.push_back(i);
    }
    replace(here, at, p, c, operands, gone, row);
    return true;
  }

  bool is_free(const Here& here, const Node& n, const std::map<std::size_t, bool, std::greater<>>& inside,
               const auto& is_operand) const {
    const std::string_view op = n.op->name();
    const bool view = op == "broadcast" || op == "reshape" || op == "stop_gradient";
    return std::all_of(n.operands.begin(), n.operands.end(), [&](ValueId v) {
      if (is_operand(v)) return view;
      const auto above = inside.find(here.place.at(g_.value(v).node));
      return (view || n.op->has_trait(Trait::elementwise)) && above != inside.end() && above->second;
    });
  }

  bool is_worth_it(const Pattern& p, const Candidate& c, const Types& results, bool of_one_node) const {
    const Op& op = registry_.get(p.op);
    const AnyAttrs attrs = c.attrs.get_if<NoAttributes>() ? op.default_attrs() : c.attrs;
    const Choice choice = choose_(Instance{&op, &attrs, {c.operands, {}, &g_.symbols}, results, &target_}, 0);
    return of_one_node ? choice.record != nullptr : choice.path != Path::unresolved;
  }

  // `gone` holds those of greater place that go, which is all users that may go.
  bool is_used_outside(const Here& here, std::size_t i, std::size_t at, const std::vector<std::size_t>& gone) const {
    for (ValueId v : g_.node(here.nodes[i]).results) {
      const auto users = here.uses.find(v);
      if (users == here.uses.end()) continue;
      for (std::size_t user : users->second) {
        if (user == at) continue;
        if (user == here.nodes.size()) return true;
        const std::vector<ValueId>& now = g_.node(here.nodes[user]).operands;  // Hits have others than were written.
        if (here.gone[user] || std::find(now.begin(), now.end(), v) == now.end()) continue;
        if (std::find(gone.begin(), gone.end(), user) == gone.end()) return true;
      }
    }
    return false;
  }

  void replace(Here& here, std::size_t at, const Pattern& p, const Candidate& c, const std::vector<ValueId>& operands,
               const std::vector<std::size_t>& gone, std::int32_t row) {
    Node& n = g_.node(here.nodes[at]);
    const Op& op = registry_.get(p.op);
    if (n.origin < 0) {
      report_.add_note(row, "recognised: " + std::string(p.op) + " from " + counted(gone.size() + 1, "node"));
    } else {
      ReportRow& hit = report_.rows[static_cast<std::size_t>(n.origin)];
      hit.recognised.written = hit.op;
      hit.recognised.pattern = p.name;
      hit.op = p.op;
      for (std::size_t i : gone) {
        const std::int32_t origin = g_.node(here.nodes[i]).origin;
        ReportRow& replaced = report_.rows[static_cast<std::size_t>(origin)];
        replaced.path = Path::recognised;
        replaced.lowering = p.op;
        replaced.recognised.into = n.origin;
        hit.recognised.from.push_back(origin);
      }
      std::sort(hit.recognised.from.begin(), hit.recognised.from.end());
    }
    for (std::size_t i : gone) here.gone[i] = true;
    n.op = &op;
    n.attrs = c.attrs.get_if<NoAttributes>() ? op.default_attrs() : c.attrs;
    n.operands = operands;
    n.regions.clear();
  }

  static constexpr std::size_t most_nodes = 256;

  Graph& g_;
  const Registry& registry_;
  const Target& target_;
  const Chooser choose_;
  DispatchReport& report_;
  std::map<std::string_view, std::vector<const Pattern*>> by_root_;
  std::set<std::string_view> opened_;
  std::map<std::string, std::optional<Graph>> written_;
};

}  // namespace

void recognise(Graph& hir, const Registry& registry, const Target& target, std::span<const KernelRecord> records,
               const CompileOptions& options, DispatchReport& report) {
  Recogniser(hir, registry, target, records, options, report).region(Graph::top, -1);
}

}  // namespace rlx::compile
