// Functions over Tensor that read and write by index, and that order.
#include <rlx/tensor_index.hpp>

#include "api/tensor_support.hpp"

#include <rlx/ops/build.hpp>

#include <numeric>
#include <utility>

namespace rlx {

using detail::axis_of, detail::build1;

namespace {

Axes axes_but(int rank, int axis) {
  Axes out;
  for (int d = 0; d < rank; ++d)
    if (d != axis) out.push_back(d);
  return out;
}

/// A bare number as an index.
Tensor index_of(const Tensor& indices) { return indices.is_number() ? detail::as_dtype(indices, DType::i64) : indices; }

/// x with `axis` last; the same permutation there and back.
Value swapped(Value x, int axis) {
  Axes order(static_cast<std::size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axis)], order.back());
  return ops::transpose(x, std::move(order));
}

/// Other dimensions are paired; where nothing is indexed there is nothing to read, and a slice of 1 would not fit.
Value taken_along(Value x, Value indices, int axis) {
  const int rank = x.rank();
  if (indices.rank() != rank)
    throw ArgumentError("take_along_axis: indices of shape " + to_string(indices.shape()) + " for x of shape " +
                        to_string(x.shape()) + ": as many dimensions were expected");
  if (x.tensor().dim(axis) == 0) {
    if (indices.shape() == x.shape()) return ops::zeros_like(x);
    throw ArgumentError("take_along_axis: indices of shape " + to_string(indices.shape()) + " into " +
                        to_string(x.shape()) + ", which has no elements along axis " + std::to_string(axis));
  }
  ops::GatherAttrs g{.collapsed_slice_dims = {axis}, .start_index_map = {axis}, .index_vector_dim = rank};
  g.operand_batching_dims = g.indices_batching_dims = axes_but(rank, axis);
  g.slice_sizes.assign(static_cast<std::size_t>(rank), 1);
  return ops::gather(x, indices, std::move(g));
}

}  // namespace

Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis, Here here) {
  return build1({"take_along_axis", here}, {x, indices},
                [at = axis_of("take_along_axis", x, axis)](ValuesIn v) { return taken_along(v[0], v[1], at); });
}

Tensor put_along_axis(const Tensor& x, const Tensor& indices, const Tensor& updates, int axis, ops::Combine kind,
                      Here here) {
  const int rank = x.rank(), at = axis_of("put_along_axis", x, axis);
  if (indices.rank() != rank || updates.rank() != rank)
    throw ArgumentError("put_along_axis: indices are " + to_string(indices.type()) + " and updates " +
                        to_string(updates.type()) + " for x of " + to_string(x.type()) +
                        ": as many dimensions were expected");
  ops::ScatterAttrs a{
      .inserted_window_dims = {at}, .scatter_dims_to_operand_dims = {at}, .index_vector_dim = rank, .kind = kind};
  a.input_batching_dims = a.indices_batching_dims = axes_but(rank, at);
  return build1({"put_along_axis", here}, {x, indices, updates},
                [&](ValuesIn v) { return ops::scatter(v[0], v[1], v[2], a); });
}

Tensor index_update(const Tensor& x, const Tensor& indices, const Tensor& updates, ops::Combine kind, int axis,
                    Here here) {
  const int at = axis_of("index_update", x, axis);
  if (indices.rank() != 1)
    throw ArgumentError("index_update: indices are " + to_string(indices.type()) + ", expected one dimension");
  const ops::ScatterAttrs a{.update_window_dims = axes_but(x.rank(), at),
                            .inserted_window_dims = {at},
                            .scatter_dims_to_operand_dims = {at},
                            .index_vector_dim = 1,
                            .kind = kind};
  return build1({"index_update", here}, {x, indices, updates},
                [&](ValuesIn v) { return ops::scatter(v[0], v[1], v[2], a); });
}

Tensor gather(const Tensor& x, const Tensor& indices, ops::GatherAttrs attrs, Here here) {
  return build1({"gather", here}, {x, index_of(indices)}, [&](ValuesIn v) { return ops::gather(v[0], v[1], attrs); });
}
Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& updates, ops::ScatterAttrs attrs, Here here) {
  Tensor xs[] = {x, updates};
  detail::agree(xs);
  return build1({"scatter", here}, {xs[0], index_of(indices), xs[1]},
                [&](ValuesIn v) { return ops::scatter(v[0], v[1], v[2], attrs); });
}

Tensor one_hot(const Tensor& indices, std::int64_t classes, DType t, Here here) {
  if (classes < 0) throw ArgumentError("one_hot: " + std::to_string(classes) + " classes");
  const Tensor at = index_of(indices);
  // The numbers of the classes have the type of the indices: a narrow one would count them in a circle.
  if (at.dtype() != DType::i32 && at.dtype() != DType::i64)
    throw ArgumentError("one_hot: indices are " + to_string(at.type()) + ", expected i32 or i64");
  return build1({"one_hot", here}, {at}, [&](ValuesIn v) {
    const Value each = ops::insert_axis(v[0], v[0].rank(), classes);
    const Value all = ops::iota(*v[0].builder, each.dtype(), each.shape(), v[0].rank());
    return ops::convert(ops::compare(each, all, ops::Direction::eq), t);
  });
}

Tensor segment_sum(const Tensor& data, const Tensor& segments, std::int64_t count, Here here) {
  if (count < 0) throw ArgumentError("segment_sum: " + std::to_string(count) + " segments");
  if (data.rank() == 0 || segments.rank() != 1)
    throw ArgumentError("segment_sum: data are " + to_string(data.type()) + " and segments " +
                        to_string(segments.type()) + ", expected rows and a segment for each of them");
  return build1({"segment_sum", here}, {data, segments}, [&](ValuesIn v) {
    Shape shape = v[0].shape();
    shape[0] = count;
    return ops::index_add(ops::full(*v[0].builder, v[0].dtype(), shape, 0), v[1], v[0]);
  });
}
Tensor segment_reduce(const Tensor& data, const Tensor& offsets, ops::Combine kind, Here here) {
  return build1({"segment_reduce", here}, {data, offsets},
                [&](ValuesIn v) { return ops::segment_reduce(v[0], v[1], kind); });
}

Tensors sort_together(const Tensors& xs, int axis, int keys, bool descending, Here here) {
  if (xs.empty()) throw ArgumentError("sort_together of no tensors");
  if (keys < 1 || static_cast<std::size_t>(keys) > xs.size())
    throw ArgumentError("sort_together: " + std::to_string(keys) + " keys, expected 1 to " + std::to_string(xs.size()));
  const ops::SortAttrs a{axis_of("sort_together", xs[0], axis), keys,
                         std::vector<bool>(static_cast<std::size_t>(keys), descending)};
  Tensors out;
  for (const Handle& h : build(Handles(xs.begin(), xs.end()), [&](Builder&, ValuesIn v) { return ops::sort(v, a); },
                               {"sort_together", here}))
    out.push_back(Tensor(h));
  return out;
}
Tensor sort(const Tensor& x, int axis, bool descending, Here here) {
  return build1({"sort", here}, {x}, [&, at = axis_of("sort", x, axis)](ValuesIn v) {
    return ops::sort(v, {.axis = at, .descending = {descending}})[0];
  });
}
Tensor argsort(const Tensor& x, int axis, bool descending, Here here) {
  return build1({"argsort", here}, {x}, [&, at = axis_of("argsort", x, axis)](ValuesIn v) {
    const Values both{v[0], ops::iota(*v[0].builder, DType::i32, v[0].shape(), at)};
    return ops::sort(both, {.axis = at, .descending = {descending}})[1];
  });
}
TopK top_k(const Tensor& x, std::int64_t k, int axis, Here here) {
  const int at = axis_of("top_k", x, axis);
  const Handles out = build({x},
                            [&](Builder&, ValuesIn v) {
                              Values both = ops::top_k(swapped(v[0], at), k);
                              for (Value& y : both) y = swapped(y, at);
                              return both;
                            },
                            {"top_k", here});
  return {Tensor(out[0]), Tensor(out[1])};
}

}  // namespace rlx
