// Functions over Tensor whose results are as long as comes out, and what asks for that length.
#include "api/tensor_support.hpp"
#include "api/trace.hpp"

#include <rlx/ops/build.hpp>

namespace rlx {

using detail::axis_of, detail::build1;

namespace {

/// A symbol that no size of the functions being traced has: their graphs may become one.
Dim new_size() {
  detail::Frame* outermost = detail::current_frame().get();
  if (!outermost) return Dim::symbol("k");
  while (outermost->parent) outermost = outermost->parent.get();
  return Dim::symbol("k" + std::to_string(outermost->sizes++));
}

}  // namespace

Tensor nonzero(const Tensor& mask, std::int64_t bound, Here here) {
  return build1({"nonzero", here}, {mask},
                [&](ValuesIn v) { return ops::nonzero(v[0], new_size(), DType::i32, bound); });
}

Repeated repeat(const Tensor& counts, std::int64_t bound, Here here) {
  const Handles out =
      build({counts}, [&](Builder&, ValuesIn v) { return ops::repeat(v[0], new_size(), DType::i32, bound); },
            {"repeat", here});
  return {Tensor(out[0]), Tensor(out[1])};
}

Tensor compress(const Tensor& x, const Tensor& mask, std::int64_t bound, Here here) {
  return take(x, nonzero(mask, bound, here), 0, here);
}

Tensor size_of(const Tensor& x, int axis, Here here) {
  if (!is_tracing()) return HostTensor::scalar_i64(DType::i64, x.dim(axis));
  return build1({"size_of", here}, {x}, [at = axis_of("size_of", x, axis)](ValuesIn v) {
    return ops::dim_size(*v[0].builder, v[0].tensor().dim(at));
  });
}

Tensor iota_like(const Tensor& x, int axis, DType t, Here here) {
  const int at = axis_of("iota_like", x, axis);
  if (!is_tracing()) return iota(x.shape(), at, t, here);
  return build1({"iota_like", here}, {x}, [&](ValuesIn v) { return ops::iota(*v[0].builder, t, v[0].shape(), at); });
}

}  // namespace rlx
