// Counts that operators take as data: by meaning a negative one is none, and groups end where the rows do; whoever made
// them wants to hear of it in checked mode. What is said is as of index_check.hpp.
#pragma once
#include <rlx/compile/lir.hpp>
#include <rlx/ir/builder.hpp>

namespace rlx::compile {

/// Of a size of a group of ragged_dot over `rows` rows, for a node with its row.
RLX_API lir::CheckAttrs group_size_check(const Node& n, const Dim& rows);
/// Of a count of repeat.
RLX_API lir::CheckAttrs repeat_count_check(const Node& n);

/// Emits, as of the row that the builder emits for, what refuses a negative size i64[groups], and the first one that
/// reaches beyond `rows` i64[].
void watch_group_sizes(Value sizes, Value rows, const lir::CheckAttrs& said);
/// Emits what refuses a negative count i64[n].
void watch_repeat_counts(Value counts, const lir::CheckAttrs& said);
/// Whether the node is one of those.
bool takes_counts(const Node& n);
/// The same for such a node, with its row, on `operands`.
void watch_counts(const Node& n, ValuesIn operands);

}  // namespace rlx::compile
