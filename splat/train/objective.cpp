#include "splat/train/objective.hpp"

#include <rlx/ops/build.hpp>

#include "splat/emitted.hpp"

namespace rlx::splat::train {

Tensor in_use(const Tensor& count, std::int64_t capacity) { return less(arange(capacity, DType::i32), count); }

Tensor opacity(const Tensor& logits, const Tensor& count) {
  return where(in_use(count, logits.dim(0)), sigmoid(logits), zeros_like(logits));
}

Drawn draw(std::span<const Tensor> scene, const Look& look, const RenderOptions& options, const Tensor& probe,
           const Tensor& shift) {
  ensure_registered();
  const Tensor& rest = scene[harmonics];
  const Tensor used = less(iota(rest.shape(), 1, DType::i32), look.bands);
  const Tensor sh = concat({scene[colours], where(used, rest, zeros_like(rest))}, 1);
  Handles in{scene[means],
             scene[quats],
             exp(scene[scales]),
             opacity(scene[opacities], look.count),
             sh,
             reshape(look.view, {1, 4, 4}),
             reshape(look.intrinsics, {1, 3, 3}),
             reshape(look.background, {1, 3})};
  const std::size_t probe_at = in.size();
  if (probe.defined()) in.push_back(probe);
  const std::size_t shift_at = in.size();
  if (shift.defined()) in.push_back(shift);
  const Handles out = build(in, [&](Builder&, ValuesIn v) {
    const Rendered r = render({v[0], v[1], v[2], v[3], v[4]}, {v[5], v[6], v[7]}, options,
                              probe.defined() ? v[probe_at] : Value{}, shift.defined() ? v[shift_at] : Value{});
    return Values{r.image, r.projected.radii, r.wanted};
  });
  const Tensor image(out[0]), radii(out[1]);
  return {reshape(image, {image.dim(1), image.dim(2), 3}), reshape(radii, {radii.dim(1), 2}), Tensor(out[2])};
}

Tensor moved(const Tensor& view, const Tensor& motion) {
  const auto part = [&](std::int64_t k) { return slice_axis(motion, 0, k, k + 1); };  // [1]
  const Tensor x = 0.5 * part(3), y = 0.5 * part(4), z = 0.5 * part(5);
  const Tensor s = 2 / (1 + x * x + y * y + z * z);  // Of the quaternion (1, x, y, z).
  const Tensor one = full_like(x, 1), zero = zeros_like(x);
  const Tensor matrix = reshape(concat({1 - s * (y * y + z * z), s * (x * y - z), s * (x * z + y), part(0),  //
                                        s * (x * y + z), 1 - s * (x * x + z * z), s * (y * z - x), part(1),  //
                                        s * (x * z - y), s * (y * z + x), 1 - s * (x * x + y * y), part(2),  //
                                        zero, zero, zero, one}),
                                {4, 4});
  return matmul(matrix, view);
}

Tensor exposed(const Tensor& image, const Tensor& exposure) {
  const Tensor rows = reshape(exposure, {3, 4});
  const Tensor linear = slice_axis(rows, 1, 0, 3), constant = reshape(slice_axis(rows, 1, 3, 4), {3});
  return image + reshape(matmul(reshape(image, {-1, 3}), transpose(linear)), image.shape()) + constant;
}

Tensor difference(const Tensor& x, const Tensor& y, double share) {
  const Tensor absolute = mean(abs(x - y));
  if (share == 0) return absolute;
  const Tensor similarity = emitted({x, y}, [](ValuesIn v) { return ssim(v[0], v[1]); });
  return (1 - share) * absolute + share * (1 - similarity);
}

}  // namespace rlx::splat::train
