// Checked mode of a device that interprets: what generated kernels check themselves.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/host_value.hpp>
#include <rlx/runtime/backend.hpp>

#include <span>

namespace rlx::runtime {

/// The first index of gather, scatter or segment_reduce that is out of range, or the first such size of a group of
/// ragged_dot or count of repeat, its `what` as that of the other devices; an empty report where there is none and for
/// every other operator. `results` are the node's result types, constant.
CheckReport check_indices(const Node& n, std::span<const HostValue> operands, std::span<const Type> results);

}  // namespace rlx::runtime
