// Elementwise kernels join the call whose result they read.
#pragma once
#include <rlx/compile/report.hpp>
#include <rlx/compile/target.hpp>
#include <rlx/ir/graph.hpp>

#include <span>

namespace rlx::compile {

/// Marks calls whose record runs an epilogue (KernelRecord::epilogue) where the next step is a kernel that reads the
/// call's result only at the position it writes: the call then runs it on parts of the result as they are complete,
/// while these are in cache. Where only that kernel reads the result and its own is of the same type, both share
/// memory. The steps of the report become one. Comes after elide_copies and before plan_memory, since what the kernel
/// writes must not share memory with what the call still reads.
void fuse_epilogues(Graph& lir, std::span<const KernelRecord> records, DispatchReport& report);

}  // namespace rlx::compile
