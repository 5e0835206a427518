// Elementwise kernels join the calls that read what they write or whose result they read.
#pragma once
#include <rlx/compile/report.hpp>
#include <rlx/compile/target.hpp>
#include <rlx/ir/graph.hpp>

#include <span>

namespace rlx::compile {

/// Marks calls that run generated kernels: such a call and its kernels are one step, between which nothing stands. Why
/// an operand stays in memory that a record could take in pieces is a note of the call's row.
///
/// - Prologue: a kernel makes an operand of a call whose record takes that one in pieces (KernelRecord::prologue), and
///   nothing else names it. The operand is never stored: its buffer becomes piecewise.
/// - Epilogue: a kernel reads the call's result only at the position that it writes (KernelRecord::epilogue). The call
///   runs it on parts of the result as they are complete, while these are in cache. Where only that kernel reads the
///   result and its own is of the same type, both share memory.
///
/// The kernel need not be the neighbour of the call: what stands between is moved before or after both where nothing
/// forbids it. Comes after elide_copies and before plan_memory, since kernels and call run at one time.
void fuse_calls(Graph& lir, const Target& target, const Registry& registry, std::span<const KernelRecord> records,
                DispatchReport& report);

}  // namespace rlx::compile
