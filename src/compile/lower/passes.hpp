// What remains to be decided about kernels once they are merged.
#pragma once
#include "compile/lower/kernel_set.hpp"

namespace rlx::compile {

/// Values that nothing but the kernel that makes them reads lose their buffers, and loops among them stop being roots.
void drop_private_buffers(KernelSet& s, const Region& region);

/// The passes of a rows kernel: every root as early as its needs allow.
std::vector<Pass> passes_of(const KernelSet& s, const Region& region, const FusedKernel& k);

/// Chooses Pass::lodgers: dear values of several passes, where a loop of the last one has memory of their type.
void find_lodgings(const KernelSet& s, const Region& region, FusedKernel& k);

}  // namespace rlx::compile
