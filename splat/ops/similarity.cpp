#include "splat/ops/similarity.hpp"

#include <cmath>

namespace rlx::splat {

std::array<double, ssim_window> ssim_weights() {
  constexpr double deviation = 1.5;
  std::array<double, ssim_window> weights{};
  double total = 0;
  for (std::int64_t i = 0; i < ssim_window; ++i)
    total += weights[static_cast<std::size_t>(i)] =
        std::exp(-static_cast<double>((i - ssim_reach) * (i - ssim_reach)) / (2 * deviation * deviation));
  for (double& w : weights) w /= total;
  return weights;
}
std::int64_t ssim_zeros(const SsimAttrs& a) { return a.padding == Padding::same ? ssim_reach : 0; }
SsimConstants::SsimConstants(const SsimAttrs& a)
    : c1(0.01 * 0.01 * a.range * a.range), c2(0.03 * 0.03 * a.range * a.range) {}

// One of the two passes of the Gaussian window, along `axis`: sums of shifted images, with so many zeros around them.
static Value blurred(Value x, int axis, std::int64_t zeros) {
  const auto weights = ssim_weights();
  if (zeros > 0) {
    std::vector<std::int64_t> around(static_cast<std::size_t>(x.rank()), 0);
    around[static_cast<std::size_t>(axis)] = zeros;
    x = ops::pad(x, ops::scalar(*x.builder, x.dtype(), 0), around, around);
  }
  const Dim size = x.shape()[static_cast<std::size_t>(axis)] - (ssim_window - 1);
  Value sum;
  for (std::int64_t i = 0; i < ssim_window; ++i) {
    const Value term = ops::slice_axis(x, axis, i, size + i) * (weights[static_cast<std::size_t>(i)]);
    sum = sum ? sum + term : term;
  }
  return sum;
}

// All go along a new first dimension.
Values windowed(ValuesIn fields, std::int64_t zeros) {
  Values planes;
  for (const Value& v : fields) planes.push_back(with_axis(v, 0));
  const int h = fields[0].rank() - 2, w = h + 1;
  const Value all = blurred(blurred(ops::concat(planes, 0), h, zeros), w, zeros);
  const Shape one(all.shape().begin() + 1, all.shape().end());
  Values out;
  for (int k = 0; k < static_cast<int>(fields.size()); ++k)
    out.push_back(ops::reshape(ops::slice_axis(all, 0, k, k + 1), one));
  return out;
}

Similarity::Similarity(const SsimAttrs& a, Value x, Value y) {
  const Values m = windowed(Values{x, y, x * x, y * y, x * y}, ssim_zeros(a));
  mx = m[0], my = m[1];
  const Value mxx = mx * mx, myy = my * my, mxy = mx * my;
  const SsimConstants k(a);
  a1 = 2.0 * mxy + k.c1, a2 = 2.0 * (m[4] - mxy) + k.c2;
  b1 = mxx + myy + k.c1, b2 = (m[2] - mxx) + (m[3] - myy) + k.c2;
}

Answer ssim_images(const SsimAttrs&, const Signature& s) {
  if (s.rank(0) < 3) return Answer::no("rank " + std::to_string(s.rank(0)));
  return has_shape(s, 1, s.shape(0));
}
Answer ssim_sizes(const SsimAttrs& a, const Signature& s) {
  const Shape& shape = s.shape(0);
  const std::int64_t least = a.padding == Padding::valid ? ssim_window : 1;
  const std::size_t r = shape.size();
  return s.less_equal(least, shape[r - 3]) && s.less_equal(least, shape[r - 2]) && s.less_equal(1, shape[r - 1]);
}
Answer ssim_range(const SsimAttrs& a, const Signature&) { return a.range > 0 && std::isfinite(a.range); }

}  // namespace rlx::splat
