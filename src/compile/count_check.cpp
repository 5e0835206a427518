#include "compile/count_check.hpp"

#include "compile/index_check.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes.hpp>
#include <rlx/ops/build.hpp>

#include <cstdint>

namespace rlx::compile {

lir::CheckAttrs group_size_check(const Node& n, const Dim& rows) {
  return index_check(
      "group size", n,
      "0 to what the groups before it leave of " + rows.to_string() + (rows == Dim(1) ? " row" : " rows"));
}

lir::CheckAttrs repeat_count_check(const Node& n) { return index_check("repeat count", n, "0 or more"); }

// Where a group ends beyond the rows those behind it begin beyond them: only it is marked.
void watch_group_sizes(Value sizes, Value rows, const lir::CheckAttrs& said) {
  Builder& b = *sizes.builder;
  const Value none = ops::zeros_like(sizes), zero = ops::dim_size(b, 0);
  const Value all = ops::broadcast(rows, sizes.shape(), {}), beyond = all + ops::full_like(sizes, 1);
  const Value taken = ops::clamp(none, sizes, beyond);  // So that no sum overflows.
  const Value starts = ops::cumsum(taken, 0, false, true);
  const Value ends_beyond = ops::logical_and(ops::compare(starts, all, ops::Direction::le),
                                             ops::compare(taken, all - starts, ops::Direction::gt));
  const Value refused = ops::logical_or(ops::compare(sizes, none, ops::Direction::lt), ends_beyond);
  ops::check_within(ops::select(refused, sizes, none), zero, {.what = said.kind, .expected = said.expected});
}

void watch_repeat_counts(Value counts, const lir::CheckAttrs& said) {
  ops::check_within(counts, ops::dim_size(*counts.builder, INT64_MAX), {.what = said.kind, .expected = said.expected});
}

bool takes_counts(const Node& n) { return n.op->name() == "ragged_dot" || n.op->name() == "repeat"; }

void watch_counts(const Node& n, ValuesIn in) {
  const bool grouped = n.op->name() == "ragged_dot";
  const Value counts = ops::convert(in[grouped ? 2 : 0], DType::i64);
  if (counts.shape()[0] == Dim(0)) return;
  if (!grouped) return watch_repeat_counts(counts, repeat_count_check(n));
  const Dim rows = in[0].shape()[0];
  watch_group_sizes(counts, ops::dim_size(*counts.builder, rows), group_size_check(n, rows));
}

}  // namespace rlx::compile
