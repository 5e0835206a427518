// Changes of shape, and what reads shapes.
#include "compile/sizes/rules.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>

namespace rlx::compile {

namespace {

/// Indices 0 .. count - 1 of a buffer's dimension, from the last element back; padding gets 0.
Value backwards(const SizedNode& n, const Dim& d) {
  const Dim extent = n.capacity(d);
  const Value last = n.value(d - 1), zero = ops::full(n.b, DType::i64, {extent}, 0);
  return ops::max(ops::broadcast(last, {extent}, {}) - ops::iota(n.b, DType::i64, {extent}, 0), zero);
}

Value least(Value x, Value y) { return ops::min(ops::convert(x, DType::i64), y); }

}  // namespace

// Dimensions fall into groups of equal products, operand against result. Padding comes last in row-major order, and
// stays last, where the dimension that varies is the first of its group on both sides (dimensions of size 1 aside).
Values bound_reshape(const SizedNode& n) {
  const Shape &from = n.shape(0), &to = n.result_shape();
  const auto outermost = [&](const Shape& s, std::size_t begin, std::size_t end) {
    bool first = true;
    for (std::size_t i = begin; i < end; ++i) {
      if (!first && n.varies(s[i])) return false;
      if (!(s[i] == 1)) first = false;
    }
    return true;
  };
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const std::size_t i0 = i, j0 = j;
    Dim x = i < from.size() ? from[i++] : Dim(1), y = j < to.size() ? to[j++] : Dim(1);
    // The shorter side takes more until both agree; all that is left is one group where they cannot be compared.
    while (!(x == y)) {
      const bool x_less = !prove_less_equal(x, y).is_no() && i < from.size();
      if (x_less || (j >= to.size() && i < from.size())) x = x * from[i++];
      else if (j < to.size()) y = y * to[j++];
      else break;
    }
    if (!outermost(from, i0, i) || !outermost(to, j0, j))
      throw SizeRefusal{"from " + to_string(from) + " to " + to_string(to) +
                        " a dimension that varies is not the outermost of those it is merged with or split into"};
  }
  return n.emit(n.in);
}

Values bound_slice(const SizedNode& n) {
  const auto& a = n.as<ops::SliceAttrs>();
  for (std::size_t d = 0; d < a.start.size(); ++d) {
    if (n.varies(a.start[d]))
      throw SizeRefusal{"it starts at " + a.start[d].to_string() + ": use dynamic_slice with dim_size"};
    n.capacity(a.limit[d]);
  }
  // The leading elements of a buffer that is full of them.
  const auto& [start, limit, stride] = n.attrs.as<ops::SliceAttrs>();
  const bool whole = limit == n.in[0].shape() &&
                     std::all_of(start.begin(), start.end(), [](const Dim& d) { return d == 0; }) &&
                     std::all_of(stride.begin(), stride.end(), [](std::int64_t s) { return s == 1; });
  if (whole) return {n.in[0]};
  return n.emit(n.in);
}

// What comes after the elements stands behind the padding: from their end on it is written again.
Values bound_pad(const SizedNode& n) {
  const auto& a = n.as<ops::PadAttrs>();
  const Value y = n.emit(n.in)[0];
  Value inside;
  for (int d : n.varying(0)) {
    const auto i = static_cast<std::size_t>(d);
    const std::int64_t step = 1 + (a.interior.empty() ? 0 : a.interior[i]);
    if (a.high[i] <= 0 && step == 1) continue;
    const Dim extent = y.shape()[i];
    const Value end = n.value((n.shape(0)[i] - 1) * step + 1 + a.low[i]);
    const Value before =
        ops::compare(ops::iota(n.b, DType::i64, {extent}, 0), ops::broadcast(end, {extent}, {}), ops::Direction::lt);
    const Value spread = ops::broadcast(before, y.shape(), {d});
    inside = inside ? ops::logical_and(inside, spread) : spread;
  }
  return {inside ? ops::select(inside, y, ops::broadcast(n.in[1], y.shape(), {})) : y};
}

// Each piece goes over the padding of the one before it.
Values bound_concat(const SizedNode& n) {
  const int axis = n.as<ops::AxisAttrs>().axis;
  const auto at = static_cast<std::size_t>(axis);
  bool padded = false;
  for (std::size_t i = 0; i + 1 < n.in.size(); ++i) padded = padded || n.varies(i, axis);
  if (!padded) return n.emit(n.in);
  Shape shape = n.in[0].shape();
  shape[at] = 0;
  for (const Value& x : n.in) shape[at] = shape[at] + x.shape()[at];
  Value y = ops::full(n.b, n.in[0].dtype(), shape, 0);
  Dim start = 0;
  for (std::size_t i = 0; i < n.in.size(); ++i) {
    Values starts(shape.size(), ops::dim_size(n.b, 0));
    starts[at] = n.value(start);
    y = ops::dynamic_update_slice(y, n.in[i], starts);
    start = start + n.shape(i)[at];
  }
  return {y};
}

Values bound_reverse(const SizedNode& n) {
  const Axes& axes = n.as<ops::AxesAttrs>().axes;
  const Axes moving = n.varying(0, axes);
  Axes fixed;
  for (int d : axes)
    if (std::find(moving.begin(), moving.end(), d) == moving.end()) fixed.push_back(d);
  Value y = ops::reverse(n.in[0], fixed);
  for (int d : moving) y = ops::take(y, backwards(n, n.shape(0)[static_cast<std::size_t>(d)]), d);
  return {y};
}

Values bound_dynamic_slice(const SizedNode& n) {
  const auto& sizes = n.as<ops::DynamicSliceAttrs>().sizes;
  Values in(n.in.begin(), n.in.end());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const Dim& whole = n.shape(0)[d];
    if (sizes[d] == whole) continue;
    if (n.varies(sizes[d]))
      throw SizeRefusal{"it takes " + sizes[d].to_string() + " of dimension " + whole.to_string()};
    if (n.varies(whole)) in[1 + d] = least(in[1 + d], n.value(whole - sizes[d]));
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) in[1 + d] = ops::convert(in[1 + d], DType::i64);
  return n.emit(in);
}

Values bound_dynamic_update_slice(const SizedNode& n) {
  Values in(n.in.begin(), n.in.end());
  for (std::size_t d = 0; d < n.shape(0).size(); ++d) {
    const Dim &whole = n.shape(0)[d], &part = n.shape(1)[d];
    if (part == whole) continue;
    if (n.varies(part))
      throw SizeRefusal{"it puts " + part.to_string() + " into dimension " + whole.to_string() + ": use scatter"};
    if (n.varies(whole)) in[2 + d] = least(in[2 + d], n.value(whole - part));
  }
  for (std::size_t d = 0; d < n.shape(0).size(); ++d) in[2 + d] = ops::convert(in[2 + d], DType::i64);
  return n.emit(in);
}

Values bound_dim_size(const SizedNode& n) {
  const auto& a = n.as<ops::DimSizeAttrs>();
  return {n.value(a.size, a.dtype)};
}

// Numbers follow from the row-major position, which padding moves unless it comes last.
Values bound_random(const SizedNode& n) {
  const Shape& shape = n.result_shape();
  for (std::size_t d = 1; d < shape.size(); ++d)
    if (n.varies(shape[d])) throw SizeRefusal{"dimension " + std::to_string(d) + " varies, and is not the outermost"};
  return n.emit(n.in);
}

}  // namespace rlx::compile
