// Which kernels become one.
#pragma once
#include "compile/lower/kernel_set.hpp"

namespace rlx::compile {

/// Size of one kernel's code, in units of emitted_size: compile time grows faster than a function does.
constexpr int kernel_limit = 384;

/// Joins kernels where no other kernel has to run between them, and one feeds the other or both read the same value:
/// memory is then passed once instead of twice.
void merge_kernels(KernelSet& s, const FusionOptions& options);

}  // namespace rlx::compile
