// Kernel records of the splat family for the cpu device.
#pragma once
#include <rlx/compile/target.hpp>

#include <span>

namespace rlx::splat {
std::span<const KernelRecord> cpu_records();
}  // namespace rlx::splat
