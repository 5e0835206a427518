// Batching: one graph that does for all members of a batch what f does for one.
//
// `if` with a predicate that differs from member to member becomes a select of both branches, which must then have no
// effects; `while` with such a condition runs until the last member is done and keeps the state of those that are.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/registry.hpp>

#include <vector>

namespace rlx::transform {

struct VmapOptions {
  std::vector<int>
      in_axes{};  ///< One an input: where its batch dimension is, -1: the same for all. Empty: 0 for every tensor.
  std::vector<int> out_axes{};  ///< One an output, -1: must not differ between members. Empty: 0 for every tensor.
  Dim size = 1;                 ///< Members of the batch; symbols new to f are added.
};

/// Names of inputs and outputs are f's. Throws ArgumentError where the axes do not fit f, VerifyError with constraint
/// "batch" and the operator's reason where one cannot be batched.
RLX_API Graph vmap(const Graph& f, const Registry& registry, const VmapOptions& options);

}  // namespace rlx::transform
