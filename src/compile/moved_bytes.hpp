// How much memory a step of a LIR program moves.
#pragma once
#include <rlx/ir/graph.hpp>

#include <optional>
#include <span>

namespace rlx::compile {

/// Bytes of the buffers that a step reads and writes. A kernel moves of each at most as many elements as its body has
/// loads or stores of it in all trips of its loops, and at most all of them. A call and the kernels that it runs (in
/// program order) count as one step: what one part makes for another is not read. Nothing for what holds steps.
std::optional<double> moved_bytes(const Graph& lir, std::span<const NodeId> step);

}  // namespace rlx::compile
