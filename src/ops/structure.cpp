#include "ops/structure.hpp"

#include <rlx/ir/counted.hpp>

#include <algorithm>

namespace rlx::ops {

Axes axes_upto(int rank) {
  Axes all;
  for (int i = 0; i < rank; ++i) all.push_back(i);
  return all;
}

Axes axes_except(int rank, const Axes& axes) {
  Axes rest;
  for (int i = 0; i < rank; ++i)
    if (!contains(axes, i)) rest.push_back(i);
  return rest;
}

Axes shifted(Axes axes, int by) {
  for (int& a : axes) a += by;
  return axes;
}

bool contains(const Axes& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

Axes inverse_permutation(const Axes& permutation) {
  Axes inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<int>(i);
  return inverse;
}

Shape shape_without(const Shape& shape, const Axes& axes) {
  Shape rest;
  for (int i : axes_except(static_cast<int>(shape.size()), axes)) rest.push_back(shape[static_cast<std::size_t>(i)]);
  return rest;
}

Shape with_front(const Dim& size, const Shape& shape) { return prepended(size, shape); }

std::vector<std::int64_t> batch_entry(std::vector<std::int64_t> list, std::int64_t first) {
  return list.empty() ? list : prepended(first, std::move(list));
}

Answer axis_within(int axis, int rank) {
  if (0 <= axis && axis < rank) return true;
  return Answer::no("axis " + std::to_string(axis) + " of rank " + std::to_string(rank));
}

Answer axes_ascending(const Axes& axes, int rank) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (Answer a = axis_within(axes[i], rank); a.is_no()) return a;
    if (i > 0 && axes[i] <= axes[i - 1])
      return Answer::no(std::to_string(axes[i]) + " follows " + std::to_string(axes[i - 1]));
  }
  return true;
}

Answer axes_distinct(const Axes& axes, int rank) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (Answer a = axis_within(axes[i], rank); a.is_no()) return a;
    if (std::count(axes.begin(), axes.end(), axes[i]) > 1) return Answer::no(std::to_string(axes[i]) + " repeats");
  }
  return true;
}

Answer has_length(std::size_t length, int wanted, std::string_view list) {
  if (length == static_cast<std::size_t>(wanted)) return true;
  return Answer::no(std::string(list) + " has " + counted(length, "entry", "entries") + ", expected " +
                    std::to_string(wanted));
}

Answer empty_or_length(std::size_t length, int wanted, std::string_view list) {
  return length == 0 ? Answer(true) : has_length(length, wanted, list);
}

Answer index_scalars(const Signature& s, std::size_t first, std::size_t count) {
  if (s.size() != first + count)
    return Answer::no(std::to_string(s.size() - std::min(first, s.size())) + " given, expected " +
                      std::to_string(count));
  for (std::size_t i = first; i < s.size(); ++i)
    if (s.rank(i) != 0 || s.dtype(i) != s.dtype(first))
      return Answer::no("operand " + std::to_string(i) + " is " + to_string(s.types[i]));
  return true;
}

Value lead(Value x, int axis, const Dim& size) {
  if (axis < 0) return insert_axis(x, 0, size);
  return move_axis(x, axis, 0);
}

Value move_axis(Value x, int from, int to) {
  if (from == to) return x;
  Axes p = axes_except(x.rank(), {from});
  p.insert(p.begin() + to, from);
  return transpose(x, p);
}

Value zeros(Builder& b, TensorType t) { return full(b, t.dtype, std::move(t.shape), 0); }

Value stretch(Value r, Shape shape, const Axes& axes) {
  Axes kept = axes_except(static_cast<int>(shape.size()), axes);
  return broadcast(r, std::move(shape), std::move(kept));
}

Value widened(Value x) { return convert(x, is_floating(x.dtype()) ? default_accumulator(x.dtype()) : x.dtype()); }

Value extend(Value x, int axis, Dim low, Dim size) {
  Builder& b = *x.builder;
  const TensorType t = x.tensor();
  const auto at = static_cast<std::size_t>(axis);
  const Dim high = size - low - t.shape[at];
  if (low == 0 && high == 0) return x;
  if (low.is_constant() && high.is_constant()) {
    std::vector<std::int64_t> before(t.shape.size(), 0), after(t.shape.size(), 0);
    before[at] = low.constant();
    after[at] = high.constant();
    return pad(x, scalar(b, t.dtype, 0), before, after);
  }
  const auto zeros_of = [&](const Dim& d) {
    Shape s = t.shape;
    s[at] = d;
    return full(b, t.dtype, s, 0);
  };
  return concat(Values{zeros_of(low), x, zeros_of(high)}, axis);
}

void refuse_rule(std::string_view op, std::string_view rule, const std::string& why) {
  throw VerifyError(std::string(op), std::string(rule), std::string(op) + ": " + std::string(rule) + ": " + why);
}

Dim bytes_of(const Type& t) {
  const auto* x = std::get_if<TensorType>(&t);
  if (!x) return 0;
  return bit_width(x->dtype) < 8 ? floordiv(x->numel() + 1, 2) : x->numel() * (bit_width(x->dtype) / 8);
}

Cost cost_of(const Signature& s, const Types& results, Dim flops) {
  Dim bytes = 0;
  for (const Type& t : s.types) bytes = bytes + bytes_of(t);
  for (const Type& t : results) bytes = bytes + bytes_of(t);
  return {std::move(flops), bytes};
}

ShardRule shard_positions(const Signature& s, const Types& results, const Axes& whole) {
  const int rank = s.rank(0);
  ShardRule r;
  for (int i = 0; i < rank; ++i)
    r.factors.push_back({contains(whole, i) ? ShardRule::Kind::whole : ShardRule::Kind::passed, 0});
  const auto follow = [&](const Type& t) {
    const auto* x = std::get_if<TensorType>(&t);
    if (!x) return Axes{};
    return x->rank() == rank ? axes_upto(rank) : Axes(static_cast<std::size_t>(x->rank()), -1);
  };
  for (const Type& t : s.types) r.operands.push_back(follow(t));
  for (const Type& t : results) r.results.push_back(follow(t));
  return r;
}

}  // namespace rlx::ops
