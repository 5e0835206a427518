// Stores that go past the caches: a result too large to stay in them is written without being read first, which saves a
// third of the traffic of a kernel that reads one tensor and writes another.
#pragma once
#include "compile/emit_llvm/plan.hpp"

#include <unordered_set>

namespace rlx::emit_llvm {

/// Alignment in bytes that a buffer needs at run time for its streaming stores; kernels check it.
inline constexpr std::int64_t streaming_alignment = 64;

/// The lir.store nodes of a planned kernel that may stream: whole aligned vectors, side by side, into a large buffer
/// that the kernel does not read.
std::unordered_set<NodeId> streaming_stores(const Graph& g, const KernelPlan& plan, const Machine& machine);

}  // namespace rlx::emit_llvm
