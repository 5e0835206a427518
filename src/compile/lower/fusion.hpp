// Which values of a MIR region get buffers, and which nodes share a kernel.
//
// An element of any value can be worked out where it is asked for (elements.hpp), so fusion only decides which results
// are stored, and which of them one kernel makes. A kernel is one of
//
//   step  what the lowering of one node makes: a call, a convolution, a loop of steps, a constant.
//   loop  at each position of a shape: the elements of its roots are computed, then stored.
//   rows  for each row of an index space, *passes* over the row. The space is the shape that a reduction reads; its
//         reduced dimensions run along the row, the kept ones count the rows. A pass combines the terms of any number
//         of reductions and stores the elements of loops over the space, so that what several read is read once. What
//         a pass has reduced is a register for everything after it: loops over the kept dimensions, and later passes.
//
//             softmax of x                        pass 0   m = max of x
//             for each row:                       pass 1   s = sum of exp(x - m)
//                                                 pass 2   store exp(x - m) / s
//
// A space of few long rows is cut into *chunks* that run in parallel. A chunk cannot know what the whole row reduces
// to, so its kernel has one pass; a second kernel combines the partial results.
#pragma once
#include <rlx/ir/graph.hpp>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace rlx::compile {

struct Pass {
  std::vector<NodeId> reductions;
  std::vector<NodeId> loops;  ///< Over the space.
  std::vector<NodeId> kept;   ///< Loops over the kept dimensions that the end of this pass makes possible.
  /// Elements worked out in this pass that later ones need again, and the loop of the last of those whose row of memory
  /// holds them until then.
  std::vector<std::pair<ValueId, NodeId>> lodgers{};
};

struct FusedKernel {
  std::vector<NodeId> roots;  ///< What it makes, in program order.
  NodeId space = -1;          ///< The reduction whose index space a rows kernel traverses; -1: no rows kernel.
  std::vector<Pass> passes{};
  /// Every value in it has as many elements as the space or one, and only their linear order matters.
  bool flat = false;
};

struct Fusion {
  std::set<ValueId> buffers;         ///< Results that are stored; all others are recomputed where they are used.
  std::vector<FusedKernel> kernels;  ///< In an order that respects every use.
};

struct FusionOptions {
  bool enabled = true;  ///< False: every node is a kernel of its own.
  /// Rows below which loops keep a kernel with a thread for each element.
  std::int64_t least_rows = 1;
};

Fusion fuse(const Graph& mir, RegionId region, const FusionOptions& options = {});

/// Whether the node is computed element by element where it is used (it has an element rule and no record).
bool is_inlined_kind(const Node& n);
/// Work of one element of the node's results, in simple operations.
int own_weight(const Node& n);
/// What the node adds to a kernel's code, in the same unit.
int emitted_size(const Node& n);
/// An element is a loop of its own, which vector lanes run along: it is stored, and shares its kernel with little else.
bool is_segmented(const Node& n);
/// A constant whose elements all have the same bits; it needs no memory.
bool is_splat(const Node& n);

}  // namespace rlx::compile
