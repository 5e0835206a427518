// The named combinations of segment_reduce, reduce_window and scatter: neutral elements, host reference, legality.
#pragma once
#include <rlx/ir/op.hpp>
#include <rlx/ops/build.hpp>

namespace rlx::ops {

/// 0 for add, 1 for mul, the type's greatest value (infinity where it has one) for min, its least for max. bool: min is
/// and, max is or.
HostTensor identity_of(Combine kind, DType t);
Value identity(Builder& b, Combine kind, DType t);
/// Type of partial results on the way to one of `t`: a wider one for sums and products of small types.
DType partial_type(Combine kind, DType t);
/// y[i] = combine(y[i], x[j]), rounded to y's type; min and max propagate NaN, and -0 is below 0.
void combine_element(Combine kind, HostTensor& y, std::int64_t i, const HostTensor& x, std::int64_t j);
/// Whether values of `t` can be combined so; complex numbers have no order, bool only one.
Answer can_combine(Combine kind, DType t);
/// The elementwise function of two values; `set` gives y.
Value combined(Combine kind, Value x, Value y);
/// At every element of x the product of all others along `axes`, by no division: zeros do no harm.
Value product_of_others(Value x, const std::vector<int>& axes);

}  // namespace rlx::ops
