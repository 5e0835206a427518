// ragged_dot becomes a reduction over products: of the rows with the matrix of their group, gathered inside the kernel,
// or of the pairs of rows that belong to each group. Nothing of the size of all products is stored, and no product of
// another group enters a sum, so that its NaN stays there.
#include "compile/dispatch.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {
namespace {

Values ragged_dot_by_reduction_apply(Builder& b, const Instance& i, const Graph&, const Node& n, ValuesIn in) {
  const auto& a = n.attrs.as<ops::RaggedDotAttrs>();
  const DType t = in[0].dtype(), sum_type = a.accumulate == DType::boolean ? default_accumulator(t) : a.accumulate;
  const Value lhs = ops::convert(in[0], sum_type), rhs = ops::convert(in[1], sum_type),
              given = ops::convert(in[2], DType::i64);
  const auto& result = std::get<TensorType>(i.results[0]);
  if (given.shape()[0] == Dim(0))
    return {ops::full(b, result.dtype, result.shape, 0)};  // No group, so no row belongs to one.
  const Dim rows = lhs.shape()[0], groups = given.shape()[0], k = lhs.shape()[1];
  // A negative size counts as 0. None needs to be more than all rows, so that no sum overflows.
  const Value sizes = ops::clamp(ops::scalar(b, DType::i64, 0), given, ops::dim_size(b, rows));
  const Value ends = ops::cumsum(sizes, 0), starts = ops::sub(ends, sizes);
  const Shape pair{rows, groups};
  const Value row = ops::iota(b, DType::i64, pair, 0);
  const Value member = ops::logical_and(ops::compare(row, ops::broadcast(starts, pair, {1}), ops::Direction::ge),
                                        ops::compare(row, ops::broadcast(ends, pair, {1}), ops::Direction::lt));
  Value sum;
  if (a.mode == ops::Ragged::rows) {
    const Dim columns = rhs.shape()[2];
    const Shape products{rows, k, columns};
    const Value group =
        ops::reduce_sum(ops::select(member, ops::iota(b, DType::i64, pair, 1), ops::full(b, DType::i64, pair, 0)), {1});
    const Value matrices = ops::take(rhs, group, 0);
    sum = ops::reduce_sum(ops::mul(ops::broadcast(lhs, products, {0, 1}), matrices), {1});
    const Value owned = ops::broadcast(ops::reduce_or(member, {1}), {rows, columns}, {0});
    sum = ops::select(owned, sum, ops::zeros_like(sum));
  } else {
    const Shape products{rows, groups, k, rhs.shape()[1]};
    const Value product = ops::mul(ops::broadcast(lhs, products, {0, 2}), ops::broadcast(rhs, products, {0, 3}));
    sum =
        ops::reduce_sum(ops::select(ops::broadcast(member, products, {0, 1}), product, ops::zeros_like(product)), {0});
  }
  return {ops::convert(sum, result.dtype)};
}

}  // namespace

extern const RewriteRule ragged_dot_by_reduction{"ragged_dot_by_reduction", "ragged_dot", false,
                                                 [](const Instance&) { return Answer(true); },
                                                 ragged_dot_by_reduction_apply};

}  // namespace rlx::compile
