// Cleaning up after other transformations, without changing a bit of any result.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/registry.hpp>

namespace rlx::transform {

/// Merges equal nodes of a region, drops what no output, effect or check_within depends on (also results, state and
/// operands of `if`, `while` and `scan`), folds exact operations on constants and identities that hold for every value:
/// x * 1 but not x + 0, which is +0 for x = -0. Inputs stay, used or not. Linear in the size of the graph for a fixed
/// depth of loops.
RLX_API Graph simplify(const Graph& g, const Registry& registry);

}  // namespace rlx::transform
