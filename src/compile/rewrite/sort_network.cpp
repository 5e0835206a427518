// sort becomes a bitonic network (K. Batcher, AFIPS 1968) in a loop: each trip compares every element with the one at
// the position whose index differs in one bit. The original position is the last key, which makes the order total, and
// so the network stable; padding sorts behind every element.
#include "compile/dispatch.hpp"

#include <rlx/ops/build.hpp>

#include <bit>

namespace rlx::compile {
namespace {

using ops::Direction;

/// The same number in a type that numbers are compared in; those without one are half a byte or a byte large.
Value comparable(Value x) {
  if (float8.contains(x.dtype())) return ops::convert(x, DType::f32);
  return x.dtype() == DType::i4 ? ops::convert(x, DType::i8) : x;
}

// Whether x comes before y by key: NaN after all numbers in either direction; `equal` gets where neither does.
Value before(Value x, Value y, bool descending, Value& equal) {
  x = comparable(x);
  y = comparable(y);
  const Direction d = descending ? Direction::gt : Direction::lt;
  Value first = ops::compare(x, y, d), second = ops::compare(y, x, d);
  if (is_floating(x.dtype())) {
    const Value nan_x = ops::is_nan(x), nan_y = ops::is_nan(y);
    first = ops::logical_or(first, ops::logical_and(nan_y, ops::logical_not(nan_x)));
    second = ops::logical_or(second, ops::logical_and(nan_x, ops::logical_not(nan_y)));
  }
  equal = ops::logical_not(ops::logical_or(first, second));
  return first;
}

// The whole order: keys in turn, then the position.
Value ordered(ValuesIn x, ValuesIn y, const ops::SortAttrs& a, const Value& x_at, const Value& y_at) {
  Value result, undecided;
  for (int k = 0; k < a.keys; ++k) {
    Value equal;
    const Value first = before(x[static_cast<std::size_t>(k)], y[static_cast<std::size_t>(k)],
                               !a.descending.empty() && a.descending[static_cast<std::size_t>(k)], equal);
    result = result ? ops::logical_or(result, ops::logical_and(undecided, first)) : first;
    undecided = undecided ? ops::logical_and(undecided, equal) : equal;
  }
  return ops::logical_or(result, ops::logical_and(undecided, ops::compare(x_at, y_at, Direction::lt)));
}

Values sort_network_apply(Builder& b, const Instance&, const Graph&, const Node& n, ValuesIn in) {
  const auto a = n.attrs.as<ops::SortAttrs>();
  const std::int64_t length = in[0].shape()[static_cast<std::size_t>(a.axis)].constant();
  if (length < 2) return {in.begin(), in.end()};
  const auto size = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length)));

  Values state{ops::scalar(b, DType::i64, 2), ops::scalar(b, DType::i64, 1)};
  for (const Value& x : in) {
    std::vector<std::int64_t> none(static_cast<std::size_t>(x.rank()), 0), high = none;
    high[static_cast<std::size_t>(a.axis)] = size - length;
    state.push_back(size == length ? x : ops::pad(x, ops::scalar(b, x.dtype(), 0), none, high));
  }
  const Shape shape = state[2].shape();
  state.push_back(ops::iota(b, DType::i64, shape, a.axis));
  const std::size_t count = in.size();

  const RegionBody more = [&](ValuesIn v) -> Values {
    return {ops::compare(v[0], ops::scalar(*v[0].builder, DType::i64, static_cast<double>(size)), Direction::le)};
  };
  const RegionBody trip = [&](ValuesIn v) -> Values {
    Builder& body = *v[0].builder;
    const Value run = v[0], stride = v[1];
    const Value along = ops::iota(body, DType::i64, {size}, 0);
    const Value partner = ops::logical_xor(along, ops::broadcast_to(stride, {size}));
    Values other;
    for (std::size_t i = 0; i <= count; ++i) other.push_back(ops::take(v[2 + i], partner, a.axis));
    const auto spread = [&](Value flags) { return ops::broadcast(flags, shape, {a.axis}); };
    const Value zero = ops::scalar(body, DType::i64, 0);
    const Value lower_half =
        spread(ops::compare(ops::logical_and(along, ops::broadcast_to(stride, {size})), zero, Direction::eq));
    const Value ascending =
        spread(ops::compare(ops::logical_and(along, ops::broadcast_to(run, {size})), zero, Direction::eq));
    const Value at = v[2 + count], other_at = other[count];
    // Padding has positions from `length` on and counts as greater than every element.
    const Value bound = ops::scalar(body, DType::i64, static_cast<double>(length));
    const Value real = ops::compare(at, bound, Direction::lt),
                other_real = ops::compare(other_at, bound, Direction::lt);
    const Value by_key = ordered(v.subspan(2, count), ValuesIn(other).first(count), a, at, other_at);
    const Value mine_first =
        ops::select(ops::logical_and(real, other_real), by_key,
                    ops::select(ops::logical_xor(real, other_real), real, ops::compare(at, other_at, Direction::lt)));
    // The lower position of an ascending pair keeps the smaller element.
    const Value want_smaller = ops::logical_not(ops::logical_xor(lower_half, ascending));
    const Value keep = ops::logical_not(ops::logical_xor(mine_first, want_smaller));
    const Value half = ops::div(stride, ops::scalar(body, DType::i64, 2));
    const Value done = ops::compare(half, zero, Direction::eq);
    const Value next_run = ops::select(done, ops::mul(run, ops::scalar(body, DType::i64, 2)), run);
    Values next{next_run, ops::select(done, run, half)};
    for (std::size_t i = 0; i <= count; ++i) next.push_back(ops::select(keep, v[2 + i], other[i]));
    return next;
  };
  const int stages = std::countr_zero(static_cast<std::uint64_t>(size));
  const Values sorted = ops::while_(state, {}, more, trip, stages * (stages + 1) / 2);
  Values out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(ops::slice_axis(sorted[2 + i], a.axis, 0, length));
  return out;
}

}  // namespace

extern const RewriteRule sort_network{"sort_network", "sort", false, [](const Instance&) { return Answer(true); },
                                      sort_network_apply};

}  // namespace rlx::compile
