#include "ops/indexing.hpp"

#include <algorithm>

namespace rlx::ops {

Axes index_batch_dims(int indices_rank, int index_vector_dim) { return axes_except(indices_rank, {index_vector_dim}); }

Dim index_length(const Shape& indices, int index_vector_dim) {
  const auto d = static_cast<std::size_t>(index_vector_dim);
  return d < indices.size() ? indices[d] : Dim(1);
}

Answer index_vector_fits(const Signature& s, int index_vector_dim, std::size_t components) {
  if (index_vector_dim < 0 || index_vector_dim > s.rank(1))
    return Answer::no("index_vector_dim " + std::to_string(index_vector_dim));
  return s.equal(index_length(s.shape(1), index_vector_dim), static_cast<std::int64_t>(components));
}

Answer batching_fits(const Signature& s, const Axes& operand_dims, const Axes& indices_dims, int index_vector_dim) {
  Answer all = has_length(indices_dims.size(), static_cast<int>(operand_dims.size()), "indices_batching_dims") &&
               axes_distinct(operand_dims, s.rank(0)) && axes_distinct(indices_dims, s.rank(1));
  if (all.is_no()) return all;
  if (contains(indices_dims, index_vector_dim)) return Answer::no("indices_batching_dims holds index_vector_dim");
  for (std::size_t i = 0; i < operand_dims.size(); ++i)
    all = std::move(all) && s.equal(s.tensor(0).dim(operand_dims[i]), s.tensor(1).dim(indices_dims[i]));
  return all;
}

GatherAttrs gather_of(const ScatterAttrs& a, const Shape& operand, const Shape& updates) {
  GatherAttrs g{a.update_window_dims,
                a.inserted_window_dims,
                a.input_batching_dims,
                a.indices_batching_dims,
                a.scatter_dims_to_operand_dims,
                a.index_vector_dim,
                {}};
  std::size_t next = 0;
  for (int d = 0; d < static_cast<int>(operand.size()); ++d) {
    const bool single = contains(a.inserted_window_dims, d) || contains(a.input_batching_dims, d);
    g.slice_sizes.push_back(single ? Dim(1) : updates[static_cast<std::size_t>(a.update_window_dims[next++])]);
  }
  return g;
}

ScatterAttrs scatter_of(const GatherAttrs& a, Combine kind) {
  return {a.offset_dims,
          a.collapsed_slice_dims,
          a.operand_batching_dims,
          a.indices_batching_dims,
          a.start_index_map,
          a.index_vector_dim,
          kind};
}

// A limit beyond the index type limits nothing.
static std::int64_t limit_of(const Dim& d, DType t) {
  return t == DType::i32 ? std::clamp<std::int64_t>(d.constant(), INT32_MIN, INT32_MAX) : d.constant();
}

Value clamp_indices(Value indices, int index_vector_dim, std::vector<Dim> lower, std::vector<Dim> upper) {
  if (lower.empty()) return indices;
  Builder& b = *indices.builder;
  const TensorType t = indices.tensor();
  const auto limit = [&](const std::vector<Dim>& dims) {
    if (index_vector_dim >= t.rank()) {
      const Value v = dims[0].is_constant() ? constant(b, HostTensor::scalar_i64(t.dtype, limit_of(dims[0], t.dtype)))
                                            : dim_size(b, dims[0], t.dtype);
      return broadcast(v, t.shape, {});
    }
    if (is_constant(dims)) {
      HostTensor v(t.dtype, {static_cast<std::int64_t>(dims.size())});
      for (std::size_t i = 0; i < dims.size(); ++i) v.set_i64(static_cast<std::int64_t>(i), limit_of(dims[i], t.dtype));
      return broadcast(constant(b, v), t.shape, {index_vector_dim});
    }
    Values parts;
    for (const Dim& d : dims) parts.push_back(reshape(dim_size(b, d, t.dtype), {1}));
    return broadcast(concat(parts, 0), t.shape, {index_vector_dim});
  };
  const Value low = limit(lower), high = limit(upper);
  return clamp(low, indices, high);
}

// A border as wide as a window, into which every window that is partly outside is moved.
Value windows(Value t, Value indices, const ScatterAttrs& a, Shape updates, double outside) {
  Builder& b = *t.builder;
  const Shape operand = t.shape();
  const GatherAttrs g = gather_of(a, operand, updates);
  std::vector<std::int64_t> border(operand.size(), 0);
  std::vector<Dim> lower, upper;
  HostTensor shift(indices.dtype(), {static_cast<std::int64_t>(a.scatter_dims_to_operand_dims.size())});
  std::int64_t k = 0;
  for (int axis : a.scatter_dims_to_operand_dims) {
    const auto d = static_cast<std::size_t>(axis);
    border[d] = g.slice_sizes[d].constant();
    lower.push_back(-border[d]);
    upper.push_back(operand[d]);
    shift.set_i64(k++, border[d]);
  }
  if (lower.empty()) return gather(t, indices, g);
  const Value padded = pad(t, scalar(b, t.dtype(), outside), border, border);
  const Shape shape = indices.shape();
  const bool scalar_index = a.index_vector_dim >= static_cast<int>(shape.size());
  const Value by = scalar_index ? broadcast(constant(b, shift.reshaped({})), shape, {})
                                : broadcast(constant(b, shift), shape, {a.index_vector_dim});
  return gather(padded, add(clamp_indices(indices, a.index_vector_dim, lower, upper), by), g);
}

static GatherAttrs along_attrs(int rank, int axis) {
  GatherAttrs g;
  g.collapsed_slice_dims = g.start_index_map = {axis};
  g.operand_batching_dims = g.indices_batching_dims = axes_except(rank, {axis});
  g.index_vector_dim = rank;
  g.slice_sizes.assign(static_cast<std::size_t>(rank), 1);
  return g;
}

Value take_along(Value x, Value indices, int axis) {
  if (element_count(x.shape()) == 0) return zeros(*x.builder, tensor(x.dtype(), indices.shape()));
  return gather(x, indices, along_attrs(x.rank(), axis));
}

Value put_along(TensorType like, Value t, Value indices, int axis) {
  if (element_count(t.shape()) == 0) return zeros(*t.builder, like);
  return scatter(zeros(*t.builder, like), indices, t, scatter_of(along_attrs(like.rank(), axis), Combine::set));
}

bool starts_unbatched(std::span<const int> axes) {
  return std::all_of(axes.begin(), axes.end(), [](int a) { return a < 0; });
}

Value stacked_starts(ValuesIn starts, std::span<const int> axes, const Shape& x, const Shape& windows) {
  Values columns;
  std::vector<Dim> upper;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    columns.push_back(axes[i] < 0 ? broadcast(starts[i], {x[0], 1}, {}) : broadcast(starts[i], {x[0], 1}, {0}));
    upper.push_back(x[i + 1] - windows[i + 1]);
  }
  return clamp_indices(concat(columns, 1), 1, std::vector<Dim>(upper.size(), 0), upper);
}

Position clamped_starts(const ReferenceCall& c, std::size_t first, const Position& shape, const Position& size) {
  Position start;
  for (std::size_t d = 0; d < shape.size(); ++d)
    start.push_back(std::clamp<std::int64_t>(c.tensor(first + d).get_i64(0), 0, shape[d] - size[d]));
  return start;
}

Axes resized_axes(const Shape& x, const Shape& y) {
  Axes cut;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i] == y[i])) cut.push_back(static_cast<int>(i));
  return cut;
}

}  // namespace rlx::ops
