// Access by index, and order, over Tensor. Indices are i32 or i64; an axis may be negative, which counts from the last.
// An index out of range is clamped where elements are read and its update dropped where they are written; checked mode
// reports the first one instead. What does not fit is a VerifyError or an ArgumentError at the call.
#pragma once
#include <rlx/tensor.hpp>

#include <cstdint>

namespace rlx {

// --- Along one dimension (NumPy's take_along_axis, PyTorch's gather and scatter).
/// y[.., i, ..] = x[.., indices[.., i, ..], ..]: like indices, whose other dimensions are those of x. Differentiates
/// with respect to x.
RLX_API Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis = -1, RLX_HERE);
/// x, but for y[.., indices[.., i, ..], ..] = updates[.., i, ..], or what `kind` makes of that element and the update
/// (add, min, max, mul). updates is like indices and of x's dtype. Where indices repeat, updates count in their order;
/// mul differentiates with respect to x alone.
RLX_API Tensor put_along_axis(const Tensor& x, const Tensor& indices, const Tensor& updates, int axis = -1,
                              ops::Combine kind = ops::Combine::set, RLX_HERE);

// --- Whole slices: see also take and index_add.
/// x, but for the slices indices[i] along `axis`, which `updates` replaces or combines with as put_along_axis does.
/// indices [k]; updates is like x, but k along the axis.
RLX_API Tensor index_update(const Tensor& x, const Tensor& indices, const Tensor& updates,
                            ops::Combine kind = ops::Combine::set, int axis = 0, RLX_HERE);
/// StableHLO's gather and scatter: dimension numbers in ops::GatherAttrs and ops::ScatterAttrs.
RLX_API Tensor gather(const Tensor& x, const Tensor& indices, ops::GatherAttrs attrs, RLX_HERE);
RLX_API Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& updates, ops::ScatterAttrs attrs,
                       RLX_HERE);
/// indices [...] -> [..., classes] of `t`: 1 where the class is the index, else 0; nothing but 0 out of range. Indices
/// of another type than i32 and i64 are an ArgumentError.
RLX_API Tensor one_hot(const Tensor& indices, std::int64_t classes, DType t = DType::f32, RLX_HERE);

// --- Segments of rows.
/// data [n, ...], segments [n] -> [count, ...]: the sum of the rows of each segment, in any order of rows; 0 for one
/// without rows.
RLX_API Tensor segment_sum(const Tensor& data, const Tensor& segments, std::int64_t count, RLX_HERE);
/// data [n, ...], offsets [count + 1], which ascend -> [count, ...]: rows offsets[i] .. offsets[i + 1] - 1 combined by
/// add, mul, min or max; the neutral element (0, 1, infinities) for none.
RLX_API Tensor segment_reduce(const Tensor& data, const Tensor& offsets, ops::Combine kind = ops::Combine::add,
                              RLX_HERE);

// --- Order: stable, NaN after all numbers in either direction, -0 and 0 equal; real or bool.
RLX_API Tensor sort(const Tensor& x, int axis, bool descending, RLX_HERE);
/// i32 like x: where in x the elements of sort(x, axis, descending) stand.
RLX_API Tensor argsort(const Tensor& x, int axis = -1, bool descending = false, RLX_HERE);
/// All of xs, of one shape, moved as the first sorts, ties decided by the second and so on for `keys` of them.
RLX_API Tensors sort_together(const Tensors& xs, int axis = -1, int keys = 1, bool descending = false, RLX_HERE);
/// The k greatest along the axis, greatest first, and where they stand, i32: ties go to the first, NaN comes before
/// all.
struct TopK {
  Tensor values, indices;
};
/// x of real numbers, 0 <= k <= its size along the axis. Values differentiate.
RLX_API TopK top_k(const Tensor& x, std::int64_t k, int axis = -1, RLX_HERE);

}  // namespace rlx
