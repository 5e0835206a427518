#include "compile/emit_llvm/streaming.hpp"

#include "compile/emit_llvm/lane_forms.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>

namespace rlx::emit_llvm {
namespace {

constexpr std::int64_t large = 32ll << 20;  // Bytes of a buffer that no later kernel finds in the caches.

class Finder {
 public:
  Finder(const Graph& g, const KernelPlan& p) : g_(g), plan_(p), node_(g.node(p.node)) {
    const Region& body = g.region(node_.regions[0]);
    for (std::size_t i = 0; i < node_.operands.size(); ++i)
      operand_[body.arguments[body.arguments.size() - node_.operands.size() + i]] = node_.operands[i];
    note_loads(node_.regions[0]);
  }

  std::unordered_set<NodeId> run() {
    const std::size_t dims = plan_.attrs->extents.size();
    if (dims > 0 && plan_.lanes > 1) {
      index_ = g_.region(node_.regions[0]).arguments[dims - 1];
      if (plan_.block % plan_.lanes == 0 || plan_.blocks == 1) region(node_.regions[0], plan_.lanes);
    } else region(node_.regions[0], 1);
    return std::move(found_);
  }

 private:
  void note_loads(RegionId r) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      if (n.op->name() == "lir.load")
        if (const auto it = operand_.find(n.operands[0]); it != operand_.end()) loaded_.insert(it->second);
      for (RegionId inner : n.regions) note_loads(inner);
    }
  }

  void region(RegionId r, int lanes) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      if (n.op->name() == "lir.store" && lanes > 1 && streams(n, lanes)) found_.insert(id);
      const auto chosen = plan_.loop_lanes.find(id);
      if (n.op->name() != "lir.for" || lanes > 1 || chosen == plan_.loop_lanes.end()) continue;
      index_ = g_.region(n.regions[0]).arguments[0];
      if (constant_i64(g_, n.operands[0]) == 0) region(n.regions[0], chosen->second);
    }
  }

  bool streams(const Node& store, int lanes) const {
    const auto it = operand_.find(store.operands[0]);
    if (it == operand_.end() || loaded_.contains(it->second)) return false;
    const TensorType& t = g_.tensor_type(it->second);
    const std::int64_t width = bit_width(t.dtype) / 8;
    if (width == 0 || is_complex(t.dtype) || byte_size(t.dtype, t.numel().constant()) < large) return false;
    return width * lanes >= 32 && is_multiple(store.operands[1], lanes);
  }

  // Whether the first lane's value is always a multiple of the lanes.
  bool is_multiple(ValueId v, int lanes) const {
    if (v == index_) return true;
    if (const auto c = constant_i64(g_, v)) return *c % lanes == 0;
    const NodeId d = g_.value(v).node;
    if (d < 0) return false;
    const Node& n = g_.node(d);
    const auto each = [&](ValueId o) { return is_multiple(o, lanes); };
    if (n.op->name() == "add") return std::all_of(n.operands.begin(), n.operands.end(), each);
    return n.op->name() == "mul" && std::any_of(n.operands.begin(), n.operands.end(), each);
  }

  const Graph& g_;
  const KernelPlan& plan_;
  const Node& node_;
  ValueId index_ = -1;
  std::unordered_map<ValueId, ValueId> operand_;  // Of the body's buffers.
  std::unordered_set<ValueId> loaded_;
  std::unordered_set<NodeId> found_;
};

}  // namespace

std::unordered_set<NodeId> streaming_stores(const Graph& g, const KernelPlan& plan, const Machine& machine) {
  if (machine.isa == Isa::generic) return {};
  return Finder(g, plan).run();
}

}  // namespace rlx::emit_llvm
