// Which values outputs and effects depend on, through regions: a loop's state is live only where something uses it.
#pragma once
#include "transform/control.hpp"

namespace rlx::transform {

class Liveness {
 public:
  explicit Liveness(const Graph& g);

  bool value(ValueId v) const { return values_[static_cast<std::size_t>(v)]; }
  bool node(NodeId n) const { return nodes_[static_cast<std::size_t>(n)]; }
  Mask of(const std::vector<ValueId>& values) const;
  /// For nodes of control flow that keep all results (they have effects), the operator's own rules say what is live.
  bool prunable(const Node& n) const;

 private:
  void mark(ValueId v) { values_[static_cast<std::size_t>(v)] = true; }
  void mark_where(const std::vector<ValueId>& values, const Mask& m);
  void region(RegionId r, const Mask& results);
  void visit(NodeId id);
  void loop(const Node& n);

  const Graph& g_;
  std::vector<bool> values_, nodes_;
};

}  // namespace rlx::transform
