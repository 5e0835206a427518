#include "compile/fuse_calls.hpp"

#include "compile/lir/effects.hpp"
#include "compile/row_access.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/registry.hpp>
#include <rlx/ir/text_reader.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace rlx::compile {
namespace {

bool is_memory(const Node& n) { return n.op->name() == "lir.buffer" || n.op->name() == "lir.view"; }
bool is_call(const Node& n) { return n.op->name() == "lir.call"; }
bool is_kernel(const Node& n) { return n.op->name() == "lir.kernel"; }
std::size_t writes(const Node& kernel) { return static_cast<std::size_t>(kernel.attrs.as<lir::KernelAttrs>().writes); }

class CallFuser {
 public:
  CallFuser(Graph& g, const Target& target, const Registry& registry, std::span<const KernelRecord> records,
            DispatchReport& report)
      : g_(g), target_(target), registry_(registry), records_(records), report_(report) {
    find_users(Graph::top);
  }

  /// Epilogues first: a kernel between two calls saves its result's way through memory after the one, and both its
  /// result's and its operand's where it runs on what is in cache.
  void run() {
    each_call(Graph::top, [this](RegionId r, NodeId call) { find_epilogue(g_.region(r).nodes, call); });
    each_call(Graph::top, [this](RegionId r, NodeId call) { find_prologues(g_.region(r).nodes, call); });
  }

 private:
  template <class F>
  void each_call(RegionId r, const F& f) {
    for (NodeId id : std::vector<NodeId>(g_.region(r).nodes)) {
      if (is_call(g_.node(id))) f(r, id);
      if (!is_kernel(g_.node(id)))
        for (RegionId inner : std::vector<RegionId>(g_.node(id).regions)) each_call(inner, f);
    }
  }
  void find_users(RegionId r) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      for (ValueId v : n.operands) users_[v].insert(id);
      if (is_kernel(n)) continue;
      for (RegionId inner : n.regions) find_users(inner);
    }
    returned_.insert(g_.region(r).results.begin(), g_.region(r).results.end());
  }

  const KernelRecord* record(const lir::CallAttrs& a) const {
    for (const KernelRecord& r : records_)
      if (r.name.value == a.record && r.op.value == a.op) return &r;
    return nullptr;
  }

  ValueId root(ValueId v) const { return lir::root(g_, v); }
  lir::Effects effects(const std::vector<NodeId>& steps) const { return lir::effects(g_, steps); }

  void find_epilogue(std::vector<NodeId>& steps, NodeId call) {
    const Node& n = g_.node(call);
    const auto& a = n.attrs.as<lir::CallAttrs>();
    const KernelRecord* r = record(a);
    if (!r || !r->epilogue || n.operands.size() != static_cast<std::size_t>(a.operands) + 1) return;
    const ValueId result = n.operands.back();
    const auto from = std::find(steps.begin(), steps.end(), call);
    for (auto at = from + 1; at != steps.end(); ++at)
      if (users_[result].contains(*at) && takes(n, g_.node(*at)) && bring_after(steps, call, *at)) {
        join_epilogue(steps, call, *std::next(std::find(steps.begin(), steps.end(), call)));
        return;
      }
  }

  /// Whether the call can run the kernel on parts of its result, wherever both stand.
  bool takes(const Node& call, const Node& kernel) const {
    if (!is_kernel(kernel) || joined_.contains(kernel.attrs.as<lir::KernelAttrs>().name)) return false;
    const ValueId result = call.operands.back();
    const std::size_t reads = kernel.operands.size() - writes(kernel);
    bool reads_result = false;
    for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
      const ValueId v = kernel.operands[i];
      if (i < reads) reads_result = reads_result || v == result;
      if (i < reads ? v != result && root(v) == root(result) : root(v) == root(result)) return false;
      if (i >= reads)
        for (std::size_t o = 0; o + 1 < call.operands.size(); ++o)
          if (root(call.operands[o]) == root(v)) return false;
    }
    return reads_result && loads_own_position(g_, kernel, g_.tensor_type(result).shape, result) &&
           loads_along_rows(g_, kernel) == AlongRows::yes;
  }

  /// Reorders steps so that the kernel follows the call. What the kernel needs of what stands between comes before the
  /// call, the rest after the kernel; false where something between needs the call and is needed by the kernel.
  bool bring_after(std::vector<NodeId>& steps, NodeId call, NodeId kernel) {
    const auto first = std::find(steps.begin(), steps.end(), call), last = std::find(first, steps.end(), kernel);
    std::vector<std::vector<NodeId>> between;  // A call and its epilogue stay together.
    std::vector<NodeId> memory;
    for (auto at = first + 1; at != last; ++at) {
      if (is_memory(g_.node(*at))) memory.push_back(*at);
      else if (is_kernel(g_.node(*at)) && joined_.contains(g_.node(*at).attrs.as<lir::KernelAttrs>().name))
        between.back().push_back(*at);
      else between.push_back({*at});
    }
    const lir::Effects of_call = effects({call});
    std::vector<lir::Effects> needed{effects({kernel})};
    std::vector<bool> before(between.size(), false);
    for (std::size_t u = between.size(); u-- > 0;) {
      lir::Effects e = effects(between[u]);
      before[u] = std::any_of(needed.begin(), needed.end(), [&](const lir::Effects& n) { return n.conflicts(e); });
      if (before[u] && e.conflicts(of_call)) return false;
      if (before[u]) needed.push_back(std::move(e));
    }
    std::vector<NodeId> order = std::move(memory);
    const auto add = [&](bool which) {
      for (std::size_t u = 0; u < between.size(); ++u)
        if (before[u] == which) order.insert(order.end(), between[u].begin(), between[u].end());
    };
    add(true);
    order.push_back(call), order.push_back(kernel);
    add(false);
    std::copy(order.begin(), order.end(), first);
    return true;
  }

  void join_epilogue(std::vector<NodeId>& steps, NodeId call_id, NodeId kernel_id) {
    Node& call = g_.node(call_id);
    Node& kernel = g_.node(kernel_id);
    auto attrs = call.attrs.as<lir::CallAttrs>();
    attrs.epilogue = kernel.attrs.as<lir::KernelAttrs>().name;
    call.attrs = attrs;
    joined_.insert(attrs.epilogue);
    const ValueId result = call.operands.back(), out = kernel.operands.back();
    const std::set<NodeId> both{call_id, kernel_id};
    if (writes(kernel) != 1 || !is_fresh(result) || !is_fresh(out) || g_.type(result) != g_.type(out)) return;
    if (users_[result] != both || returned_.contains(result)) return;
    // What names `out` before the call would find the call's sums there.
    const auto call_at = std::find(steps.begin(), steps.end(), call_id);
    for (auto at = steps.begin(); at != call_at; ++at) {
      const Node& n = g_.node(*at);
      if (users_[out].contains(*at) || (!n.regions.empty() && !is_kernel(n))) return;
    }
    const NodeId unused = g_.value(result).node, buffer = g_.value(out).node;
    const auto at = std::find(steps.begin(), steps.end(), buffer),
               first = std::find(steps.begin(), steps.end(), unused);
    if (at == steps.end() || first == steps.end()) return;
    for (Node* n : {&call, &kernel}) std::replace(n->operands.begin(), n->operands.end(), result, out);
    users_[out].insert(call_id);
    std::iter_swap(at, first);  // what is shared exists before the call
    steps.erase(std::find(steps.begin(), steps.end(), unused));
  }
  bool is_fresh(ValueId v) const {
    const NodeId d = g_.value(v).node;
    return d >= 0 && g_.node(d).op->name() == "lir.buffer" &&
           g_.node(d).attrs.as<lir::BufferAttrs>().lifetime != lir::Lifetime::constant;
  }

  void find_prologues(std::vector<NodeId>& steps, NodeId call_id) {
    const auto a = g_.node(call_id).attrs.as<lir::CallAttrs>();  // a copy: joining replaces them
    const KernelRecord* r = record(a);
    if (!r || !r->prologue) return;
    const Op& op = registry_.get(a.op);
    TextReader text(a.attributes, "attributes of " + a.record);
    const AnyAttrs attrs = op.default_attrs().table().parse(text);
    const Instance instance{&op, &attrs, {a.operand_types, {}, nullptr}, a.result_types, &target_};
    for (int i = 0; i < a.operands; ++i) {
      const ValueId v = g_.node(call_id).operands[static_cast<std::size_t>(i)];
      const NodeId kernel = maker(steps, call_id, v);
      if (kernel < 0) continue;
      if (const Answer takes = r->prologue(instance, static_cast<std::size_t>(i)); !takes.is_no())
        join_prologue(steps, call_id, kernel, v);
      else report_.add_note(g_.node(call_id).origin, "operand " + std::to_string(i) + " is stored first: " + takes.why);
    }
  }

  /// The kernel that makes `v` for this call alone and can run when the call does; -1: none.
  NodeId maker(const std::vector<NodeId>& steps, NodeId call_id, ValueId v) {
    const NodeId d = g_.value(v).node;
    if (d < 0 || g_.node(d).op->name() != "lir.buffer" || returned_.contains(v) || users_[v].size() != 2) return -1;
    const std::vector<ValueId>& read = g_.node(call_id).operands;
    if (g_.node(d).attrs.as<lir::BufferAttrs>().lifetime != lir::Lifetime::transient ||
        std::count(read.begin(), read.end(), v) != 1)
      return -1;
    const NodeId id = *users_[v].begin() == call_id ? *users_[v].rbegin() : *users_[v].begin();
    const auto call_at = std::find(steps.begin(), steps.end(), call_id), at = std::find(steps.begin(), call_at, id);
    const Node& kernel = g_.node(id);
    if (at == call_at || !is_kernel(kernel) || joined_.contains(kernel.attrs.as<lir::KernelAttrs>().name)) return -1;
    if (writes(kernel) != 1 || kernel.operands.back() != v ||
        std::count(kernel.operands.begin(), kernel.operands.end(), v) != 1)
      return -1;
    if (!stores_own_position(g_, kernel, g_.tensor_type(v).shape) || loads_along_rows(g_, kernel) == AlongRows::across)
      return -1;
    // Nothing may change what it reads: not before the call, and neither the call nor its epilogue.
    const lir::Effects own = effects({id});
    auto end = call_at + 1;
    if (!g_.node(call_id).attrs.as<lir::CallAttrs>().epilogue.empty()) ++end;
    for (auto s = at + 1; s != end; ++s)
      for (ValueId w : effects({*s}).writes)
        if (own.reads.contains(w)) return -1;
    return id;
  }

  void join_prologue(std::vector<NodeId>& steps, NodeId call_id, NodeId kernel_id, ValueId v) {
    auto attrs = g_.node(call_id).attrs.as<lir::CallAttrs>();
    const std::string& name = g_.node(kernel_id).attrs.as<lir::KernelAttrs>().name;
    attrs.prologues.push_back(name);
    g_.node(call_id).attrs = attrs;
    joined_.insert(name);
    Node& buffer = g_.node(g_.value(v).node);
    auto memory = buffer.attrs.as<lir::BufferAttrs>();
    memory.lifetime = lir::Lifetime::piecewise;
    buffer.attrs = memory;
    steps.erase(std::find(steps.begin(), steps.end(), kernel_id));
    steps.insert(std::find(steps.begin(), steps.end(), call_id), kernel_id);
  }

  Graph& g_;
  const Target& target_;
  const Registry& registry_;
  std::span<const KernelRecord> records_;
  DispatchReport& report_;
  std::map<ValueId, std::set<NodeId>> users_;  // Nodes that name a value, but for bodies of kernels.
  std::set<ValueId> returned_;                 // By regions.
  std::set<std::string> joined_;               // Kernels that a call runs.
};

}  // namespace

void fuse_calls(Graph& lir, const Target& target, const Registry& registry, std::span<const KernelRecord> records,
                DispatchReport& report) {
  CallFuser(lir, target, registry, records, report).run();
}

}  // namespace rlx::compile
