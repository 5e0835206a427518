// The kernels of this backend that are not generated.
#pragma once
#include <rlx/compile/target.hpp>

#include <span>

namespace rlx::cpu {
std::span<const KernelRecord> kernel_records();
}  // namespace rlx::cpu
