// Results of an introduced size stand in buffers of its bound: here they get their own shape.
#pragma once
#include <rlx/ir/host_tensor.hpp>

#include <cstdint>
#include <vector>

namespace rlx::runtime {

/// The first shape[d] positions along each dimension d of `x`; `x` itself where that is all of it.
HostTensor leading(const HostTensor& x, const std::vector<std::int64_t>& shape);

}  // namespace rlx::runtime
