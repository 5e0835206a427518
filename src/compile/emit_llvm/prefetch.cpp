#include "compile/emit_llvm/prefetch.hpp"

#include "compile/emit_llvm/lane_forms.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>

namespace rlx::emit_llvm {
namespace {

constexpr std::int64_t large = 4ll << 20;  // Bytes of a buffer that comes from memory.
constexpr std::int64_t ahead = 2048;       // Bytes: some hundred cycles of a loop, and still in the nearest cache.

class Finder {
 public:
  Finder(const Graph& g, const KernelPlan& p) : g_(g), plan_(p), node_(g.node(p.node)) {
    const Region& body = g.region(node_.regions[0]);
    for (std::size_t i = 0; i < node_.operands.size(); ++i)
      operand_[body.arguments[body.arguments.size() - node_.operands.size() + i]] = node_.operands[i];
  }

  std::unordered_map<NodeId, std::int64_t> run() {
    if (plan_.lanes > 1) accesses(node_.regions[0], 0);
    else loops(node_.regions[0]);
    std::unordered_map<NodeId, std::int64_t> out;
    for (const auto& [buffer, access] : last_) out.insert(access);
    return out;
  }

 private:
  // Loops that take lanes along a row of `trips` elements, 0 where the row goes on.
  void loops(RegionId r) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      const bool loop = n.op->name() == "lir.for" || n.op->name() == "lir.reduce";
      if (loop && (is_loaded(n.operands[0]) || is_loaded(n.operands[1]))) continue;
      if (!plan_.loop_lanes.contains(id)) {
        for (RegionId inner : n.regions) loops(inner);
        continue;
      }
      const auto low = constant_i64(g_, n.operands[0]), high = constant_i64(g_, n.operands[1]);
      accesses(n.regions[0], low && high ? *high - *low : 0);
    }
  }

  void accesses(RegionId r, std::int64_t trips) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      if (n.op->name() != "lir.load" && n.op->name() != "lir.store") continue;
      const auto it = operand_.find(n.operands[0]);
      if (it == operand_.end() || (plan_.piecewise && it->second == node_.operands.back())) continue;
      const TensorType& t = g_.tensor_type(it->second);
      const std::int64_t width = bit_width(t.dtype) / 8;
      if (width == 0 || is_complex(t.dtype) || byte_size(t.dtype, t.numel().constant()) < large) continue;
      last_.insert_or_assign(it->second, std::pair{id, std::max(trips, ahead / width)});
    }
  }

  bool is_loaded(ValueId v) const {
    const NodeId d = g_.value(v).node;
    if (d < 0) return false;
    const Node& n = g_.node(d);
    return n.op->name() == "lir.load" ||
           std::any_of(n.operands.begin(), n.operands.end(), [&](ValueId o) { return is_loaded(o); });
  }

  const Graph& g_;
  const KernelPlan& plan_;
  const Node& node_;
  std::unordered_map<ValueId, ValueId> operand_;                       // Of the body's buffers.
  std::unordered_map<ValueId, std::pair<NodeId, std::int64_t>> last_;  // By buffer: access, elements ahead.
};

}  // namespace

std::unordered_map<NodeId, std::int64_t> prefetches(const Graph& g, const KernelPlan& plan) {
  return Finder(g, plan).run();
}

}  // namespace rlx::emit_llvm
