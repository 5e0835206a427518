// An obvious renderer in float64: one Gaussian after the other over its box, and which pixels a threshold decides.
#pragma once
#include "references.hpp"

#include <numeric>

namespace rlx::splat::testing {

/// What project and sh_color gave, in float64, and opacities with their compensation: [c, n, ..].
struct Splats {
  HostTensor radii, means, depths, conics, opacities, features;
};

struct ReferencePicture {
  std::vector<double> image, transmittance;  // [c, h, w, f], [c, h, w]
  std::vector<bool> close;                   // [c, h, w]: where rounding may decide otherwise
  std::vector<double> share;                 // [c, h, w]: the largest weight of a Gaussian that it decides about
  std::int64_t close_count() const { return std::count(close.begin(), close.end(), true); }
};

/// Gaussians of image c that are seen, nearest first; ties by number.
inline std::vector<std::int64_t> by_depth(const HostTensor& radii, const HostTensor& depths, std::int64_t c) {
  const std::int64_t n = depths.shape()[1];
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < n; ++i)
    if (radii.get_i64(2 * (c * n + i)) > 0 && radii.get_i64(2 * (c * n + i) + 1) > 0) order.push_back(c * n + i);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return depths.get_f64(i) < depths.get_f64(j); });
  return order;
}

/// Thresholds count as met by rounding within `within`, relative.
inline ReferencePicture picture(const Splats& s, std::int64_t width, std::int64_t height,
                                const std::vector<double>& backgrounds, double within) {
  const std::int64_t c = s.means.shape()[0], f = s.features.shape()[2];
  const auto count = static_cast<std::size_t>(c * height * width);
  ReferencePicture p{std::vector<double>(count * static_cast<std::size_t>(f)), std::vector<double>(count, 1.0),
                     std::vector<bool>(count), std::vector<double>(count)};
  std::vector<bool> ended(count);
  std::vector<double> last_weight(count);
  for (std::int64_t image = 0; image < c; ++image) {
    double last_depth = -1;
    for (const std::int64_t i : by_depth(s.radii, s.depths, image)) {
      const double mx = s.means.get_f64(2 * i), my = s.means.get_f64(2 * i + 1), o = s.opacities.get_f64(i);
      const double xx = s.conics.get_f64(3 * i), xy = s.conics.get_f64(3 * i + 1), yy = s.conics.get_f64(3 * i + 2);
      const double depth = s.depths.get_f64(i);
      const bool tie = static_cast<float>(depth) == static_cast<float>(last_depth);
      last_depth = depth;
      const auto low = [](double v, std::int64_t r) {
        return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(v)) - r - 1);
      };
      const auto high = [](double v, std::int64_t r, std::int64_t size) {
        return std::min(size, static_cast<std::int64_t>(std::ceil(v)) + r + 1);
      };
      const std::int64_t rx = s.radii.get_i64(2 * i), ry = s.radii.get_i64(2 * i + 1);
      for (std::int64_t y = low(my, ry); y < high(my, ry, height); ++y)
        for (std::int64_t x = low(mx, rx); x < high(mx, rx, width); ++x) {
          const auto at = static_cast<std::size_t>((image * height + y) * width + x);
          if (ended[at]) continue;
          const double dx = mx - static_cast<double>(x) - 0.5, dy = my - static_cast<double>(y) - 0.5;
          const double sigma = 0.5 * (xx * dx * dx + yy * dy * dy) + xy * dx * dy;
          const double opaque = o * std::exp(-sigma), alpha = std::min(0.999, opaque);
          const double weight = alpha * p.transmittance[at], left = p.transmittance[at] * (1 - alpha);
          const auto decided = [&](double share) {
            p.close[at] = true;
            p.share[at] = std::max(p.share[at], share);
          };
          if (std::abs(opaque * 255 - 1) < within || std::abs(opaque / 0.999 - 1) < within) decided(weight);
          if (sigma < 0 || alpha < 1.0 / 255) continue;
          if (tie) decided(std::max(weight, last_weight[at]));
          if (std::abs(left / 1e-4 - 1) < within) decided(weight);
          if (left <= 1e-4) {
            ended[at] = true;
            continue;
          }
          last_weight[at] = weight;
          for (std::int64_t k = 0; k < f; ++k)
            p.image[at * static_cast<std::size_t>(f) + static_cast<std::size_t>(k)] +=
                weight * s.features.get_f64(i * f + k);
          p.transmittance[at] = left;
        }
    }
  }
  for (std::size_t at = 0; at < count; ++at)
    for (std::int64_t k = 0; k < f; ++k)
      p.image[at * static_cast<std::size_t>(f) + static_cast<std::size_t>(k)] +=
          p.transmittance[at] *
          backgrounds[at / static_cast<std::size_t>(height * width) * static_cast<std::size_t>(f) +
                      static_cast<std::size_t>(k)];
  return p;
}

/// The lists of the tiles of all images: Gaussians whose box of radii meets the tile, nearest first.
struct TileLists {
  HostTensor ids, offsets;
};
inline TileLists tile_lists(const HostTensor& radii, const HostTensor& means, const HostTensor& depths,
                            std::int64_t width, std::int64_t height, std::int64_t side) {
  const std::int64_t columns = (width + side - 1) / side, rows = (height + side - 1) / side;
  std::vector<double> ids, offsets{0};
  for (std::int64_t c = 0; c < means.shape()[0]; ++c) {
    const std::vector<std::int64_t> order = by_depth(radii, depths, c);
    for (std::int64_t tile = 0; tile < columns * rows; ++tile) {
      const auto x = static_cast<double>(tile % columns * side), y = static_cast<double>(tile / columns * side);
      for (const std::int64_t i : order) {
        const double mx = means.get_f64(2 * i), my = means.get_f64(2 * i + 1);
        const auto rx = static_cast<double>(radii.get_i64(2 * i)), ry = static_cast<double>(radii.get_i64(2 * i + 1));
        const auto s = static_cast<double>(side);
        if (mx + rx >= x && mx - rx < x + s && my + ry >= y && my - ry < y + s) ids.push_back(static_cast<double>(i));
      }
      offsets.push_back(static_cast<double>(ids.size()));
    }
  }
  return {HostTensor::from(DType::i32, {static_cast<std::int64_t>(ids.size())}, ids),
          HostTensor::from(DType::i32, {static_cast<std::int64_t>(offsets.size())}, offsets)};
}

}  // namespace rlx::splat::testing
