// What the functions over Tensor share.
#pragma once
#include <rlx/tensor.hpp>

namespace rlx::detail {

/// Gives bare numbers among `xs` the dtype of the first tensor that is none; else of the widest number.
void agree(std::span<Tensor> xs);
/// A bare number as a scalar of another dtype; ArgumentError where it cannot hold it.
Tensor as_dtype(const Tensor& number, DType t);
std::vector<Dim> dims(const Extents& e);
Tensor build1(const Caller& caller, const Handles& in, const std::function<Value(ValuesIn)>& f);
/// A dimension counted from the first, for `function`.
int axis_of(std::string_view function, const Tensor& x, int axis);

}  // namespace rlx::detail
