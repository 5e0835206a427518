// The steps of a program as rows of its report.
#pragma once
#include "compile/step_sources.hpp"

#include <rlx/compile/report.hpp>
#include <rlx/compile/target.hpp>
#include <rlx/ir/op_def.hpp>

#include <optional>
#include <span>

namespace rlx::compile {

/// What the operator states as the cost of an instance; nothing where it states none.
std::optional<Cost> cost_of(const Graph& g, const Node& n);

/// Fills in the report's steps, in the order of the final program, and those of each row: the steps that make a result
/// of its, or work one out to use it. `lir` is what became of what `sources` was made with, `mir` what that was lowered
/// from.
void report_steps(const Graph& lir, const Graph& mir, const StepSources& sources, std::span<const KernelRecord> records,
                  DispatchReport& report);

}  // namespace rlx::compile
