// What a check of an index says of itself, written where it is lowered, and the message that it becomes where a call
// ends.
#pragma once
#include <rlx/compile/lir.hpp>
#include <rlx/compile/report.hpp>
#include <rlx/ir/graph.hpp>

#include <string>
#include <string_view>

namespace rlx::compile {

/// Of a "gather index", "scatter index", "segment offset", "group size" or "repeat count", for a node of that kind, of
/// MIR or with its row.
RLX_API lir::CheckAttrs index_check(std::string_view kind, const Node& n, std::string expected = {});
/// What is expected of indices from 0 to `most`: "0 to 3".
RLX_API std::string index_range(const Dim& most);
/// And of the offsets of segments besides.
inline constexpr std::string_view ascending = "one that is not less than the one before";

/// What to tell the user: "gather index 5 is out of range in program "f": expected 0 to 3 by the operand indices of %2
/// gather (model.rlx:4)"; what a row became names the row: "... of gather in %2 linalg.spmv (...)".
RLX_API std::string index_error(const lir::CheckAttrs& c, std::int64_t index, const std::string& program,
                                const DispatchReport& report);

}  // namespace rlx::compile
