// Which values of a MIR region get buffers, and which nodes share a kernel.
#pragma once
#include <rlx/ir/graph.hpp>

#include <map>
#include <set>
#include <vector>

namespace rlx::compile {

/// Nodes that become one kernel (or, for one node that is no loop over its result, whatever its lowering makes).
struct FusedKernel {
  std::vector<NodeId> roots;
  /// Every value in it has as many elements as the result or one, and only their linear order matters.
  bool flat = false;
};

struct Fusion {
  std::set<ValueId> buffers;         ///< Results that are stored; all others are recomputed where they are used.
  std::vector<FusedKernel> kernels;  ///< In an order that respects every use.
};

/// With `enabled` false every node is a kernel of its own.
Fusion fuse(const Graph& mir, RegionId region, bool enabled);

/// Whether the node is computed element by element where it is used (it has an element rule and no record).
bool is_inlined_kind(const Node& n);
/// A constant whose elements all have the same bits; it needs no memory.
bool is_splat(const Node& n);

}  // namespace rlx::compile
