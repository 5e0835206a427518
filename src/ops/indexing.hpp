// What gather, scatter and the dynamic slices share: arithmetic of dimension numbers, clamping, permutation along one
// axis.
#pragma once
#include "ops/structure.hpp"

namespace rlx::ops {

/// Dimensions of indices other than the one that holds index vectors.
Axes index_batch_dims(int indices_rank, int index_vector_dim);
/// Components of an index vector; 1 where no dimension holds them.
Dim index_length(const Shape& indices, int index_vector_dim);
/// Constraint: index_vector_dim is within 0 .. rank(indices) and the vectors have `components` entries.
Answer index_vector_fits(const Signature& s, int index_vector_dim, std::size_t components);
/// Constraint: the paired batching dimensions are distinct, within range, no index vector, and of equal size.
Answer batching_fits(const Signature& s, const Axes& operand_dims, const Axes& indices_dims, int index_vector_dim);

/// The gather that reads what `a` would write, and the scatter (add) that is its transposed form.
GatherAttrs gather_of(const ScatterAttrs& a, const Shape& operand, const Shape& updates);
ScatterAttrs scatter_of(const GatherAttrs& a, Combine kind);

/// Indices with component k (along dimension `index_vector_dim`, or the only one) clamped to lower[k] .. upper[k].
Value clamp_indices(Value indices, int index_vector_dim, std::vector<Dim> lower, std::vector<Dim> upper);
/// `t` as the updates of scatter `a` see it: elements at their positions, `outside` where an update would be dropped.
/// Windows have constant sizes in scattered dimensions.
Value windows(Value t, Value indices, const ScatterAttrs& a, Shape updates, double outside);

/// y[.., i, ..] = x[.., indices[.., i, ..], ..] along `axis`; other dimensions are equal.
Value take_along(Value x, Value indices, int axis);
/// zeros of `like` with y[.., indices[.., i, ..], ..] = t[.., i, ..]; indices must not repeat.
Value put_along(TensorType like, Value t, Value indices, int axis);

// Dynamic slices.
bool starts_unbatched(std::span<const int> axes);
/// Batched scalars as index vectors [size, count], clamped so that windows fit. Of both shapes the batch comes first.
Value stacked_starts(ValuesIn starts, std::span<const int> axes, const Shape& x, const Shape& windows);
/// Host values of the starts from operand `first` on, clamped so that `size` fits into `shape`.
Position clamped_starts(const ReferenceCall& c, std::size_t first, const Position& shape, const Position& size);
Axes resized_axes(const Shape& x, const Shape& y);  ///< Dimensions in which they differ.

}  // namespace rlx::ops
