// What the splatting operators share: constraints on shapes, components of short vectors, costs.
#pragma once
#include <rlx/ir/op.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/splat/attributes.hpp>
#include <rlx/splat/build.hpp>

#include <array>
#include <functional>
#include <string>

namespace rlx::splat {

inline constexpr DTypeSet reals{DType::f32, DType::f64};

/// Operands first .. last have one dtype.
Answer one_dtype(const Signature& s, std::size_t first, std::size_t last);
/// Operand i has exactly these dimensions.
Answer has_shape(const Signature& s, std::size_t i, const Shape& shape);
/// Operand i has dimensions `trailing` after any number of leading ones.
Answer ends_with(const Signature& s, std::size_t i, const Shape& trailing);

/// x without its last dimension, at position k of it: [.., d] -> [..].
Value component(Value x, int k);
/// All components of a short last dimension, in order.
Values components(Value x);
/// The inverse: planes [..] -> [.., d].
Value stacked(ValuesIn planes);
/// x with a dimension of size 1 at `axis`.
Value with_axis(Value x, int axis);

/// Dimension `axis` of a batched operand in front; repeated there where axis is -1.
Value leading(Value x, int axis, const Dim& size);

/// The shape, with the last `count` dimensions replaced.
Shape with_last(Shape shape, int count, const Shape& trailing);

/// Where x is a number of at most `limit` in magnitude: false for NaN and infinities.
Value bounded(Value x, double limit);
/// The largest magnitude whose square, three times, is far from overflow.
double square_limit(DType t);

/// Gradients to the wanted operands of what `emit` makes of them, from the cotangents of its results; of both, absent
/// is zero. For operators whose meaning is the derivative of another's.
Values pulled_back(Builder& b, ValuesIn in, ValuesIn cotangents, const std::vector<bool>& wanted,
                   const std::function<Values(Builder&, ValuesIn)>& emit);

Dim bytes_of(const Type& t);
/// Every operand read and every result written once, and so many operations.
Cost cost_of(const Signature& s, const Types& results, Dim flops);

}  // namespace rlx::splat
