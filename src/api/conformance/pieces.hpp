// Dense tensors in pieces along one dimension: members of a batch, parts of a sharded value.
#pragma once
#include <rlx/ir/host_tensor.hpp>

#include <cstdint>
#include <span>

namespace rlx::conformance {

/// Positions [begin, end) of dimension `axis`.
HostTensor piece_of(const HostTensor& x, int axis, std::int64_t begin, std::int64_t end);
/// Pieces of one dtype, at least one, one behind the other along `axis`; their other dimensions are equal.
HostTensor joined(std::span<const HostTensor> pieces, int axis);

}  // namespace rlx::conformance
