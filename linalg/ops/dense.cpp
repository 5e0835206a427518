#include "linalg/ops/dense.hpp"

#include <rlx/transform/vmap.hpp>

#include <algorithm>

namespace rlx::linalg {

Value hermitian(Value m) { return ops::mul(ops::add(m, adjoint(m)), ops::full(*m.builder, m.dtype(), m.shape(), 0.5)); }

Value triangle(Value m, ops::Direction keep) {
  Builder& b = *m.builder;
  const Value row = ops::iota(b, DType::i32, m.shape(), m.rank() - 2),
              column = ops::iota(b, DType::i32, m.shape(), m.rank() - 1);
  return ops::select(ops::compare(row, column, keep), m, ops::scalar(b, m.dtype(), 0));
}

/// [..., n] beside matrices of that rank as [..., n, 1]; what has columns as it is.
static Value as_columns(Value x, bool vectors) {
  if (!vectors) return x;
  Shape shape = x.shape();
  shape.push_back(1);
  return ops::reshape(x, shape);
}

Value times(Value m, Value x) { return ops::reshape(ops::matmul(m, as_columns(x, x.rank() < m.rank())), x.shape()); }

Value matrix_cotangent(Value a, Transpose mode, Value w, Value x) {
  const bool vectors = x.rank() < a.rank();
  const auto outer = [&](Value left, Value right) {
    return ops::neg(ops::matmul(as_columns(left, vectors), adjoint(as_columns(right, vectors))));
  };
  switch (mode) {
    case Transpose::none:
      return outer(w, x);
    case Transpose::transpose:  // (w x^H)^T
      return outer(ops::conj(x), ops::conj(w));
    case Transpose::conjugate_transpose:  // (w x^H)^H
      return outer(x, w);
  }
  throw InternalError("matrix_cotangent: unknown mode");
}

Value tangent_right_side(Transpose mode, Value a_tangent, Value b_tangent, Value x) {
  if (!a_tangent) return b_tangent;
  const Value moved = times(applied(a_tangent, mode), x);
  return b_tangent ? ops::sub(b_tangent, moved) : ops::neg(moved);
}

void refuse_where(Value flags, const std::string& op, const std::string& what) {
  Builder& b = *flags.builder;
  const Value none = ops::scalar(b, DType::i64, 0), one = ops::scalar(b, DType::i64, 1);
  const Value end = ops::add(ops::dim_size(b, flags.shape()[0]), one);
  const Value at = ops::select(flags, ops::add(ops::iota(b, DType::i64, flags.shape(), 0), one), end);
  const Value first = ops::reduce_min(at, {0});  // Threads look at elements in any order.
  ops::check_within(ops::select(ops::compare(first, end, ops::Direction::lt), first, none), none,
                    {.what = op + ": " + what, .of = op});
}

void refuse_not_finite(Value m, const std::string& op) {
  const auto not_finite = [](Value x) { return ops::logical_not(ops::is_finite(x)); };
  const Value flags =
      is_complex(m.dtype()) ? ops::logical_or(not_finite(ops::real(m)), not_finite(ops::imag(m))) : not_finite(m);
  refuse_where(ops::reduce_or(flags, {1}), op,
               "an entry of the matrix is not finite: the first row that holds one (counted from 1)");
}

/// Results of a batch of no member, which have no element: a gather under vmap takes one of each dimension at least.
static Values without_members(Builder& b, const Shape& batch, ValuesIn of_one) {
  Values out;
  for (const Value& v : of_one) {
    Shape shape = batch;
    shape.insert(shape.end(), v.shape().begin(), v.shape().end());
    out.push_back(ops::full(b, v.dtype(), shape, 0));
  }
  return out;
}

Values each_matrix(ValuesIn in, int leading, const RegionBody& one) {
  if (leading == 0) return one(in);
  Builder& b = *in[0].builder;
  const Shape batch(in[0].shape().begin(), in[0].shape().begin() + leading);
  Dim count = 1;
  for (const Dim& d : batch) count = count * d;
  Graph member("member");
  member.symbols = b.graph().symbols;
  Builder inner(member, b.registry());
  inner.set_location(b.location());
  Values arguments, stacked;
  for (const Value& v : in) {
    TensorType t = v.tensor();
    t.shape.erase(t.shape.begin(), t.shape.begin() + leading);
    arguments.push_back(inner.input(t, "x" + std::to_string(arguments.size())));
    t.shape.insert(t.shape.begin(), count);
    stacked.push_back(ops::reshape(v, t.shape));
  }
  const Values results = one(arguments);
  if (count == 0) return without_members(b, batch, results);
  for (std::size_t i = 0; i < results.size(); ++i) inner.output(results[i], "y" + std::to_string(i));
  transform::VmapOptions options;
  options.size = count;
  Values out = b.inline_region(transform::vmap(member, b.registry(), options), Graph::top, stacked);
  for (Value& v : out) {
    Shape shape = batch;
    shape.insert(shape.end(), v.shape().begin() + 1, v.shape().end());
    v = ops::reshape(v, shape);
  }
  return out;
}

Value take_rows(Value m, Value rows) {
  const Values in{m, rows};
  return each_matrix(in, rows.rank() - 1, [](ValuesIn v) -> Values { return {ops::take(v[0], v[1], 0)}; })[0];
}

Value put_rows(Value m, Value rows) {
  const Values in{m, rows};
  return each_matrix(in, rows.rank() - 1, [](ValuesIn v) -> Values {
    const Values pair{v[1], ops::iota(*v[1].builder, DType::i32, v[1].shape(), 0)};
    return {ops::take(v[0], ops::sort(pair, {.axis = 0, .keys = 1})[1], 0)};
  })[0];
}

static Value move_axis(Value x, int from, int to) {
  std::vector<int> order;
  for (int i = 0; i < x.rank(); ++i)
    if (i != from) order.push_back(i);
  order.insert(order.begin() + to, from);
  return ops::transpose(x, order);
}

Batched batch_in_front(Builder& b, const Node& node, ValuesIn in, std::span<const int> axes, const Dim& size) {
  Values stacked;
  for (std::size_t i = 0; i < in.size(); ++i)
    stacked.push_back(axes[i] < 0 ? ops::insert_axis(in[i], 0, size) : move_axis(in[i], axes[i], 0));
  Values out = b.emit(node.op->name(), stacked, node.attrs);
  std::vector<int> front(out.size(), 0);
  return {std::move(out), std::move(front)};
}

Batched batch_as_columns(Builder& b, const Node& node, ValuesIn in, std::span<const int> axes, const Dim& size) {
  const std::size_t last = in.size() - 1;
  if (std::any_of(axes.begin(), axes.end() - 1, [](int axis) { return axis >= 0; }))
    return batch_in_front(b, node, in, axes, size);
  const Value sides =
      move_axis(in[last], axes[last], in[last].rank() - 1);  // [..., n, members] or [..., n, k, members]
  Shape shape = sides.shape();
  if (sides.rank() > in[0].rank()) {
    const Dim columns = shape[shape.size() - 2] * shape.back();
    shape.resize(shape.size() - 1);
    shape.back() = columns;
  }
  Values operands(in.begin(), in.end());
  operands[last] = ops::reshape(sides, shape);
  return {{ops::reshape(b.emit1(node.op->name(), operands, node.attrs), sides.shape())}, {sides.rank() - 1}};
}

}  // namespace rlx::linalg
