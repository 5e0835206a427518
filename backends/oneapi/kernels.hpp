// Kernel records of the oneapi device.
#pragma once
#include <rlx/compile/target.hpp>

#include <span>

namespace rlx::oneapi {
std::span<const KernelRecord> kernel_records();
}  // namespace rlx::oneapi
