#include "compile/elide_copies.hpp"

#include "compile/in_place.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace rlx::compile {
namespace {

// The first kind. Which steps of a region name a buffer, by themselves, through views or in regions inside them,
// decides everything, so each region is read once; renaming happens at the end.
class Reuse {
 public:
  explicit Reuse(Graph& g) : g_(g), name_(g.value_count()), memory_(g.value_count()) {
    std::iota(name_.begin(), name_.end(), 0);
    std::iota(memory_.begin(), memory_.end(), 0);
  }

  void run() {
    find_views(Graph::top);
    region(Graph::top);
    for (RegionId r = 0; static_cast<std::size_t>(r) < g_.region_count(); ++r)
      for (ValueId& v : g_.region(r).results) v = renamed(v);
    for (NodeId n = 0; static_cast<std::size_t>(n) < g_.node_count(); ++n)
      for (ValueId& v : g_.node(n).operands) v = renamed(v);
  }

 private:
  using Positions = std::map<ValueId, std::set<std::size_t>>;  // Memory -> steps of a region that name it.

  static ValueId& at(std::vector<ValueId>& list, ValueId v) { return list[static_cast<std::size_t>(v)]; }
  ValueId renamed(ValueId v) {
    while (at(name_, v) != v) v = at(name_, v) = at(name_, at(name_, v));
    return v;
  }
  // The buffer, input or constant whose bytes these are.
  ValueId memory(ValueId v) {
    v = renamed(v);
    return at(memory_, v) == v ? v : at(memory_, v) = memory(at(memory_, v));
  }
  const lir::BufferAttrs* made(ValueId v) const {
    const NodeId n = g_.value(v).node;
    return n < 0 ? nullptr : g_.node(n).attrs.get_if<lir::BufferAttrs>();
  }

  void find_views(RegionId r) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      if (n.op->name() == "lir.view") at(memory_, n.results[0]) = n.operands[0];
      else if (n.op->name() != "lir.kernel")
        for (RegionId inner : n.regions) find_views(inner);
    }
  }

  void names(const Node& n, std::size_t position, Positions& out) {
    for (ValueId v : n.operands) out[memory(v)].insert(position);
    if (n.op->name() == "lir.kernel") return;
    for (RegionId r : n.regions) {
      for (ValueId v : g_.region(r).results) out[memory(v)].insert(position);
      for (NodeId inner : g_.region(r).nodes) names(g_.node(inner), position, out);
    }
  }

  // Regions inside first; then this one's copies from the last to the first, so that of a chain each finds its copy
  // back.
  void region(RegionId r) {
    const std::vector<NodeId> nodes = g_.region(r).nodes;
    for (NodeId id : nodes)
      if (g_.node(id).op->name() != "lir.kernel")
        for (RegionId inner : g_.node(id).regions) region(inner);
    Positions named;
    for (std::size_t i = 0; i < nodes.size(); ++i) names(g_.node(nodes[i]), i, named);
    for (ValueId v : g_.region(r).results) named[memory(v)].insert(nodes.size());
    std::set<NodeId> gone;
    for (std::size_t i = nodes.size(); i-- > 0;)
      if (g_.node(nodes[i]).op->name() == "lir.copy" && !gone.contains(nodes[i])) copy(r, nodes, i, named, gone);
    std::erase_if(g_.region(r).nodes, [&](NodeId id) { return gone.contains(id); });
  }

  void copy(RegionId r, const std::vector<NodeId>& nodes, std::size_t i, Positions& named, std::set<NodeId>& gone) {
    const ValueId a = renamed(g_.node(nodes[i]).operands[0]), b = renamed(g_.node(nodes[i]).operands[1]);
    const ValueId from = memory(a);
    const lir::BufferAttrs *source = made(from), *target = made(b);
    if (!source || source->lifetime == lir::Lifetime::constant) return;
    if (!target || target->lifetime == lir::Lifetime::constant) return;
    if (g_.type(a) != g_.type(b) || from == b) return;
    std::set<std::size_t>&of_a = named[from], &of_b = named[b];
    if (*of_b.begin() != i) return;
    const auto next = of_a.upper_bound(i);
    const bool outer = g_.node(g_.value(from).node).parent != r;
    if (g_.node(g_.value(b).node).parent != r) {  // What a branch gives: made where it is to stand.
      if (outer || a != from || next != of_a.end()) return;
      gone.insert(nodes[i]);
      gone.insert(g_.value(a).node);
      at(name_, a) = b;
      of_a.erase(i);
      of_b.merge(of_a);
      return;
    }
    std::size_t back = 0;
    if (outer) {
      // Only the copy back may name the state afterwards, and nothing names either after it.
      if (next == of_a.end() || std::next(next) != of_a.end() || *next == nodes.size() || *of_b.rbegin() != *next)
        return;
      back = *next;
      const Node& n = g_.node(nodes[back]);
      if (n.op->name() != "lir.copy" || renamed(n.operands[0]) != b || renamed(n.operands[1]) != a) return;
    } else if (next != of_a.end()) return;
    if (target->lifetime == lir::Lifetime::output) {
      if (outer || a != from) return;
      Node& maker = g_.node(g_.value(from).node);
      auto attrs = maker.attrs.as<lir::BufferAttrs>();
      attrs.lifetime = lir::Lifetime::output;
      maker.attrs = attrs;
    }
    gone.insert(nodes[i]);
    if (outer) gone.insert(nodes[back]);
    gone.insert(g_.value(b).node);
    at(name_, b) = a;
    of_a.erase(i);
    of_b.erase(i);
    if (outer) of_a.erase(back), of_b.erase(back);
    of_a.merge(of_b);
  }

  Graph& g_;
  std::vector<ValueId> name_, memory_;  // What a value is called now; what a view is a view of.
};

// The second kind, in one body.
class Body {
 public:
  Body(Graph& g, RegionId r) : g_(g), steps_(g.region(r).nodes), region_(r) {}

  void run() {
    for (std::size_t i = steps_.size(); i-- > 0;) {
      const Node& copy = g_.node(steps_[i]);
      if (copy.op->name() != "lir.copy" || !elide(i, copy.operands[0], copy.operands[1])) continue;
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    g_.region(region_).nodes = steps_;
  }

 private:
  bool uses(const Node& n, ValueId v) const {
    return std::find(n.operands.begin(), n.operands.end(), v) != n.operands.end();
  }

  bool mentions(const Node& n, ValueId v) const {
    if (uses(n, v)) return true;
    if (n.op->name() == "lir.kernel") return false;
    return std::any_of(n.regions.begin(), n.regions.end(), [&](RegionId r) {
      const Region& inner = g_.region(r);
      return std::find(inner.results.begin(), inner.results.end(), v) != inner.results.end() ||
             std::any_of(inner.nodes.begin(), inner.nodes.end(), [&](NodeId id) { return mentions(g_.node(id), v); });
    });
  }

  bool elide(std::size_t copy_at, ValueId fresh, ValueId state) {
    const NodeId maker = g_.value(fresh).node;
    if (maker < 0 || g_.node(maker).op->name() != "lir.buffer" || g_.node(maker).parent != region_) return false;
    if (g_.node(maker).attrs.as<lir::BufferAttrs>().lifetime != lir::Lifetime::transient) return false;
    const TensorType& a = g_.tensor_type(fresh);
    const TensorType& b = g_.tensor_type(state);
    if (a.dtype != b.dtype || !(a.numel() == b.numel())) return false;
    std::size_t writer = steps_.size();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Node& n = g_.node(steps_[i]);
      // Steps inside branches and inner loops that name the buffers are too far to look at.
      if (!n.regions.empty() && n.op->name() != "lir.kernel") {
        if (mentions(n, fresh) || mentions(n, state)) return false;
        continue;
      }
      if (!uses(n, fresh) && !uses(n, state)) continue;
      const std::string_view op = n.op->name();
      if (op == "lir.view") return false;
      const bool kernel = op == "lir.kernel";
      const std::size_t writes = kernel ? static_cast<std::size_t>(n.attrs.as<lir::KernelAttrs>().writes) : 0;
      const bool writes_fresh = kernel && std::find(n.operands.end() - static_cast<std::ptrdiff_t>(writes),
                                                    n.operands.end(), fresh) != n.operands.end();
      if (writes_fresh) {
        if (writer != steps_.size()) return false;  // Two kernels fill it: partial results.
        writer = i;
        if (!may_write_over(g_, n, {state}, {fresh})) return false;
        continue;
      }
      if (uses(n, fresh) && writer == steps_.size()) return false;
      if (uses(n, state) && writer != steps_.size() && i != copy_at) return false;  // The old state is read later.
    }
    if (writer >= copy_at) return false;
    for (NodeId id : steps_)
      for (ValueId& v : g_.node(id).operands)
        if (v == fresh) v = state;
    return true;
  }

  Graph& g_;
  std::vector<NodeId> steps_;
  RegionId region_;
};

void visit(Graph& g, RegionId r) {
  const std::vector<NodeId> nodes = g.region(r).nodes;
  for (NodeId id : nodes) {
    const std::vector<RegionId> regions = g.node(id).regions;
    const std::string_view op = g.node(id).op->name();
    if (op != "lir.while" && op != "lir.if") continue;
    for (RegionId inner : regions) visit(g, inner);
    if (op == "lir.while") Body(g, regions[1]).run();
  }
}

}  // namespace

void elide_copies(Graph& lir) {
  Reuse(lir).run();
  visit(lir, Graph::top);
}

}  // namespace rlx::compile
