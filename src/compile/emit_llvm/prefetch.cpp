#include "compile/emit_llvm/prefetch.hpp"

#include "compile/emit_llvm/costs.hpp"
#include "compile/emit_llvm/lane_forms.hpp"
#include "compile/lir/effects.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace rlx::emit_llvm {
namespace {

bool is_loaded(const Graph& g, ValueId v) {
  const NodeId d = g.value(v).node;
  if (d < 0) return false;
  const Node& n = g.node(d);
  return n.op->name() == "lir.load" ||
         std::any_of(n.operands.begin(), n.operands.end(), [&](ValueId o) { return is_loaded(g, o); });
}

class Finder {
 public:
  Finder(const Graph& g, const KernelPlan& p, const Machine& machine)
      : g_(g), plan_(p), node_(g.node(p.node)), machine_(machine) {
    const auto arguments = lir::buffer_arguments(g, node_);
    for (std::size_t i = 0; i < arguments.size(); ++i) operand_[arguments[i]] = node_.operands[i];
  }

  std::unordered_map<NodeId, Prefetch> run() {
    if (plan_.lanes > 1) accesses(node_.regions[0], {});
    else loops(node_.regions[0]);
    if (!plan_.loop_lanes.empty() && !goes_by_entries(node_.regions[0])) results();
    std::unordered_map<NodeId, Prefetch> out;
    for (auto& [buffer, places] : places_) {
      const std::int64_t least = machine_.bytes_ahead * 8 / bit_width(g_.tensor_type(buffer).dtype);
      std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.cost > b.cost; });
      const std::int64_t row = places[0].row, next = std::max(row, least);
      out[places[0].access] = {next};
      if (places.size() < 2 || row == 0 || places[1].row != row || places[1].cost * 4 < places[0].cost) continue;
      const std::size_t first = places[0].order < places[1].order ? 0 : 1;
      out[places[first].access] = {next, places[first].index};
      out[places[1 - first].access] = {next + row / 2, places[1 - first].index};
    }
    return out;
  }

 private:
  /// Where a buffer is accessed: in a loop over `row` elements, or, where that is 0, in a range that goes on.
  struct Place {
    std::int64_t row = 0;
    ValueId index = -1;
    double cost = 0;  ///< Of a trip.
    NodeId access = -1;
    std::size_t order = 0;
  };

  bool goes_by_entries(RegionId r) const {
    return std::ranges::any_of(g_.region(r).nodes, [&](NodeId id) {
      const Node& n = g_.node(id);
      return (n.op->name() == "lir.reduce" && by_entries(g_, n, machine_)) ||
             std::ranges::any_of(n.regions, [&](RegionId inner) { return goes_by_entries(inner); });
    });
  }

  // What each position of the last dimension, whose loops take lanes, stores beside its neighbour's.
  void results() {
    const Region& body = g_.region(node_.regions[0]);
    const std::size_t dims = plan_.attrs->extents.size();
    if (dims == 0) return;
    const LaneForms forms(g_, node_.regions[0], body.arguments[dims - 1]);
    for (NodeId id : body.nodes) {
      const Node& n = g_.node(id);
      if (n.op->name() != "lir.store" || forms.of(n.operands[1]) != LaneForm{LaneForm::Kind::linear, 1}) continue;
      if (const ValueId buffer = large_buffer(n); buffer >= 0 && !places_.contains(buffer))
        places_[buffer].push_back({.access = id});
    }
  }

  // Loops that take lanes.
  void loops(RegionId r) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      const bool loop = n.op->name() == "lir.for" || n.op->name() == "lir.reduce";
      if (loop && has_loaded_bounds(g_, n)) continue;
      if (!plan_.loop_lanes.contains(id)) {
        for (RegionId inner : n.regions) loops(inner);
        continue;
      }
      const auto low = constant_i64(g_, n.operands[0]), high = constant_i64(g_, n.operands[1]);
      Place p{low && high && *low == 0 ? *high : 0, g_.region(n.regions[0]).arguments[0]};
      for (RegionId inner : n.regions)
        for (NodeId k : g_.region(inner).nodes)
          if (g_.node(k).op->name() != "constant") p.cost += node_cost(g_, g_.node(k));
      p.order = order_++;
      accesses(n.regions[0], p);
    }
  }

  // The last access of each buffer in the region.
  void accesses(RegionId r, Place place) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      if (n.op->name() != "lir.load" && n.op->name() != "lir.store") continue;
      const ValueId buffer = large_buffer(n);
      if (buffer < 0) continue;
      std::vector<Place>& all = places_[buffer];
      if (all.empty() || all.back().order != place.order) all.push_back(place);
      all.back().access = id;
    }
  }

  /// The buffer of an access, -1 where it is not one that comes from memory.
  ValueId large_buffer(const Node& access) const {
    const auto it = operand_.find(access.operands[0]);
    if (it == operand_.end() || (plan_.piecewise && it->second == node_.operands.back())) return -1;
    return comes_from_memory(g_.tensor_type(it->second)) ? it->second : -1;
  }

  const Graph& g_;
  const KernelPlan& plan_;
  const Node& node_;
  const Machine& machine_;
  std::size_t order_ = 0;
  std::unordered_map<ValueId, ValueId> operand_;            // Of the body's buffers.
  std::unordered_map<ValueId, std::vector<Place>> places_;  // By buffer, in the order of the loops.
};

}  // namespace

bool comes_from_memory(const TensorType& buffer) {
  constexpr std::int64_t large = 4ll << 20;  // Bytes.
  const bool whole = bit_width(buffer.dtype) >= 8 && !is_complex(buffer.dtype);
  return whole && byte_size(buffer.dtype, buffer.numel().constant()) >= large;
}

bool has_loaded_bounds(const Graph& g, const Node& loop) {
  return is_loaded(g, loop.operands[0]) || is_loaded(g, loop.operands[1]);
}

bool gathers(const Graph& g, const Node& reduction) {
  const RegionId terms = reduction.regions[0];
  const LaneForms forms(g, terms, g.region(terms).arguments[0]);
  return std::ranges::any_of(g.region(terms).nodes, [&](NodeId id) {
    const Node& n = g.node(id);
    if (n.op->name() != "lir.load") return false;
    const LaneForm f = forms.of(n.operands[1]);
    return !f.is_uniform() && !(f.kind == LaneForm::Kind::linear && std::abs(f.stride) == 1);
  });
}

bool by_entries(const Graph& g, const Node& reduction, const Machine& machine) {
  return machine.slow_gathers && has_loaded_bounds(g, reduction) && gathers(g, reduction);
}

std::unordered_map<NodeId, Prefetch> prefetches(const Graph& g, const KernelPlan& plan, const Machine& machine) {
  return Finder(g, plan, machine).run();
}

}  // namespace rlx::emit_llvm
