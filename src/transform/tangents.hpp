// Arithmetic on tangents and cotangents, where an absent Value is a symbolic zero.
#pragma once
#include "transform/activity.hpp"

namespace rlx::transform {

/// A typed zero with the shape, and for csr the structure, of `like`.
Value zero_like(Value like);
/// a + b; either may be absent. Two csr values must have the same structure.
Value sum(Value a, Value b);
/// `t`, or a typed zero like `like` where it is absent.
inline Value instantiated(Value t, Value like) { return t ? t : zero_like(like); }
/// instantiated() for those that `m` names.
Values instantiated(ValuesIn ts, ValuesIn likes, const Mask& m);

/// Throws InternalError unless there is one Value for each of `like`, absent or of the same dtype and shape: a rule
/// that breaks its contract is found where it happened.
void check_rule(const Node& n, std::string_view rule, ValuesIn given, ValuesIn like);

/// A typed constant zero, of the kind that a loop's buffers start with.
Value zeros(Builder& b, DType t, Shape shape);

}  // namespace rlx::transform
