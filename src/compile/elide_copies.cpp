#include "compile/elide_copies.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace rlx::compile {
namespace {

class Body {
 public:
  Body(Graph& g, RegionId r, DispatchReport& report) : g_(g), steps_(g.region(r).nodes), region_(r), report_(report) {}

  void run() {
    for (std::size_t i = steps_.size(); i-- > 0;) {
      const Node& copy = g_.node(steps_[i]);
      if (copy.op->name() != "lir.copy" || !elide(i, copy.operands[0], copy.operands[1])) continue;
      report_.drop_step("copy", copy.origin);
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    g_.region(region_).nodes = steps_;
  }

 private:
  bool uses(const Node& n, ValueId v) const {
    return std::find(n.operands.begin(), n.operands.end(), v) != n.operands.end();
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
      // Steps inside branches and inner loops name buffers from outside: too far to look.
      if (!n.regions.empty() && n.op->name() != "lir.kernel") return false;
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
        if (uses(n, state) && !aligned(n, state, fresh)) return false;
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

  // Whether each load of `state` in the kernel is at the very index, as a value, at which `fresh` is stored, and before
  // it.
  bool aligned(const Node& kernel, ValueId state, ValueId fresh) const {
    const Region& body = g_.region(kernel.regions[0]);
    const std::size_t first = body.arguments.size() - kernel.operands.size();
    std::set<ValueId> loaded, stored;
    for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
      if (kernel.operands[i] == state) loaded.insert(body.arguments[first + i]);
      if (kernel.operands[i] == fresh) stored.insert(body.arguments[first + i]);
    }
    std::set<ValueId> at;
    bool written = false;
    for (NodeId id : body.nodes) {
      const Node& n = g_.node(id);
      if (!n.regions.empty()) return false;
      const bool load = n.op->name() == "lir.load" && loaded.contains(n.operands[0]);
      const bool store = n.op->name() == "lir.store" && stored.contains(n.operands[0]);
      if (load && written) return false;
      written = written || store;
      if (load || store) at.insert(n.operands[1]);
    }
    return at.size() == 1;
  }

  Graph& g_;
  std::vector<NodeId> steps_;
  RegionId region_;
  DispatchReport& report_;
};

void visit(Graph& g, RegionId r, DispatchReport& report) {
  const std::vector<NodeId> nodes = g.region(r).nodes;
  for (NodeId id : nodes) {
    const std::vector<RegionId> regions = g.node(id).regions;
    const std::string_view op = g.node(id).op->name();
    if (op != "lir.while" && op != "lir.if") continue;
    for (RegionId inner : regions) visit(g, inner, report);
    if (op == "lir.while") Body(g, regions[1], report).run();
  }
}

}  // namespace

void elide_copies(Graph& lir, DispatchReport& report) { visit(lir, Graph::top, report); }

}  // namespace rlx::compile
