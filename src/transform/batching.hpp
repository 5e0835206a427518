// Batching over one region.
#pragma once
#include "transform/activity.hpp"

namespace rlx::transform {

/// A batch: how many members.
struct BatchContext {
  Builder& b;
  const Graph& g;
  const Dim& size;
};

/// Emits the region's nodes for all members. Axis i says where the batch dimension of argument i is, -1: the same for
/// all.
Batched batch_region(const BatchContext& c, RegionId r, ValuesIn arguments, std::span<const int> axes, int depth = 0);
/// The same for one control-flow node, of which some operand is batched.
Batched control_batch(const BatchContext& c, const Node& n, ValuesIn in, std::span<const int> axes);

Value move_axis(Value x, int from, int to);
/// x with its batch dimension, if it has one, moved to `to`; else repeated along a new one there.
Value batched_at(Value x, int axis, int to, const Dim& size);

}  // namespace rlx::transform
