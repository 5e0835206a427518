// Kernel records of the linalg family for the cpu device.
#pragma once
#include <rlx/compile/target.hpp>

#include <span>

namespace rlx::linalg {
std::span<const KernelRecord> cpu_records();
}  // namespace rlx::linalg
