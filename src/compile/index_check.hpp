// What a check of an index says of itself: the text of a lir.check, written where it is lowered and read where a call
// ends. Kernels know no names and no lines; the row of the report does.
#pragma once
#include <rlx/compile/report.hpp>
#include <rlx/ir/graph.hpp>

#include <string>
#include <string_view>

namespace rlx::compile {

struct IndexCheck {
  std::string kind;      ///< "gather index", "scatter index", "segment offset", "group size" or "repeat count".
  int row = -1;          ///< Of the report, counted from 0; -1: none.
  std::string expected;  ///< "0 to 3"; empty: not known.
};

/// "gather index|2|0 to 3", for a node of that kind which expects indices from 0 to `most`, of MIR or with its row.
RLX_API std::string index_check(std::string_view kind, const Node& n, const Dim& most);
/// The same where the bound is not one.
RLX_API std::string index_check(std::string_view kind, const Node& n);
/// What is expected besides of the offsets of segments, behind the latter.
inline constexpr std::string_view ascending = "one that is not less than the one before";
/// Reads such a text; any other is the kind alone.
RLX_API IndexCheck read_index_check(std::string_view text);

/// What to tell the user: "gather index 5 is out of range in program "f": expected 0 to 3 by the operand indices of %2
/// gather (model.rlx:4)"; what a row became names the row: "... of gather in %2 linalg.spmv (...)".
RLX_API std::string index_error(const IndexCheck& c, std::int64_t index, const std::string& program,
                                const DispatchReport& report);

}  // namespace rlx::compile
