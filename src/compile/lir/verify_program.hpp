// What the buffers and steps of a LIR program owe each other.
#pragma once
#include "compile/step_sources.hpp"

#include <rlx/compile/report.hpp>
#include <rlx/compile/target.hpp>

#include <optional>

namespace rlx::compile {

/// Whether the memory plan has run, and what it says.
struct MemoryPlan {
  std::int64_t arena_bytes = 0;
};

/// Follows the steps in order, through both branches of an `if` and once through the regions of a loop, and throws
/// VerifyError with the step, its buffers and the rule. Of a program that verify() passes at Level::lir:
///   "body"      a kernel stores to those of its buffers that it says it writes, and reaches memory by no other way
///   "writable"  nothing writes to a constant, or to an input but one that is returned: its caller gave it away
///   "written"   a buffer is written before it is read, on every path, by whole buffers
///   "claimed"   a lowering has said what it made each step from
///   "queue"     a step is on one of the queues that the target has
///   "done"      what is started is waited for once, in the region that started it
///   "race"      between a start and its done no step writes what the started ones use, or reads what they write
///   "prologue", "epilogue"  a call stands between the kernels that it runs, and only they know what it makes in pieces
/// and, once there is a `plan`:
///   "arena"     a transient lies inside its slab
///   "alignment" at a multiple of the target's alignment
///   "overlap"   from its first write to the last step that names it a transient shares no byte with another one
///               written meanwhile; one that a loop names from outside keeps its bytes from trip to trip, and one that
///               started steps name keeps them until their done
/// Steps happen in the order of the program, but those of a start, which happen before its done only. Linear in steps
/// and operands, but for the state that each branch copies and what runs beside a step. Errors name nodes as the rows
/// of the `report` do.
void verify_program(const Graph& lir, const Target& target, const StepSources& sources, const DispatchReport& report,
                    const std::optional<MemoryPlan>& plan = {});

}  // namespace rlx::compile
