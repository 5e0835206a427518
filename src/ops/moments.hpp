// What mean, var and logsumexp share: axes that may stay with size 1.
#pragma once
#include "ops/structure.hpp"

namespace rlx::ops {

template <class A>
Answer moment_axes_fit(const A& a, const Signature& s) {
  return axes_ascending(a.axes, s.rank(0));
}
template <class A>
Types moment_infer(const A& a, const Signature& s) {
  Shape shape = shape_without(s.shape(0), a.axes);
  if (a.keep) {
    shape = s.shape(0);
    for (int d : a.axes) shape[static_cast<std::size_t>(d)] = 1;
  }
  return {tensor(s.dtype(0), shape)};
}
template <class A>
ShardRule moment_shard(const A& a, const Signature& s) {
  ShardRule r = shard_positions(s, {}, a.axes);
  Axes kept;
  for (int d = 0; d < s.rank(0); ++d)
    if (!contains(a.axes, d)) kept.push_back(d);
    else if (a.keep) kept.push_back(-1);
  r.results = {kept};
  return r;
}
/// The number of elements along `axes`, as a scalar of dtype t. That of a batch stays a size, which programs for other
/// batches have no code of their own for, where its value is known too.
inline Value count_along(Value x, const Axes& axes, DType t) {
  Dim n = 1;
  for (int d : axes) n = n * x.tensor().dim(d);
  return contains(axes, 0) ? x.builder->emit1("dim_size", {}, DimSizeAttrs{n, t}) : dim_size(*x.builder, n, t);
}
inline Value divide_by(Value x, Value scalar) { return div(x, broadcast(scalar, x.shape(), {})); }

}  // namespace rlx::ops
