// An obvious renderer in float64: one Gaussian after the other over its box, and which pixels a threshold decides.
#pragma once
#include "references.hpp"

#include <limits>
#include <numeric>

namespace rlx::splat::testing {

/// What project and sh_color gave, in float64, and opacities with their compensation: [c, n, ..].
struct Splats {
  HostTensor radii, means, depths, conics, opacities, features;
};

struct ReferencePicture {
  std::vector<double> image, transmittance;  // [c, h, w, f], [c, h, w]
  std::vector<std::size_t> ends;             // [c, h, w]: how many of by_depth() came before the pixel ended
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

/// Gaussian i of all images, and what it is at a pixel.
struct Footprint {
  double mx, my, o, xx, xy, yy;
  std::int64_t left, right, top, bottom;  // The pixels whose distance is within its radii, and one more on each side.

  Footprint(const Splats& s, std::int64_t i, std::int64_t width, std::int64_t height)
      : mx(s.means.get_f64(2 * i)),
        my(s.means.get_f64(2 * i + 1)),
        o(s.opacities.get_f64(i)),
        xx(s.conics.get_f64(3 * i)),
        xy(s.conics.get_f64(3 * i + 1)),
        yy(s.conics.get_f64(3 * i + 2)) {
    const auto low = [](double v, std::int64_t r) {
      return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(v)) - r - 1);
    };
    const auto high = [](double v, std::int64_t r, std::int64_t size) {
      return std::min(size, static_cast<std::int64_t>(std::ceil(v)) + r + 1);
    };
    const std::int64_t rx = s.radii.get_i64(2 * i), ry = s.radii.get_i64(2 * i + 1);
    left = low(mx, rx), right = high(mx, rx, width), top = low(my, ry), bottom = high(my, ry, height);
  }

  struct At {
    double dx, dy, sigma, opaque, alpha;
    bool counts() const { return !(sigma < 0 || alpha < 1.0 / 255); }
  };
  At at(std::int64_t x, std::int64_t y) const {
    const double dx = mx - static_cast<double>(x) - 0.5, dy = my - static_cast<double>(y) - 0.5;
    const double sigma = 0.5 * (xx * dx * dx + yy * dy * dy) + xy * dx * dy, opaque = o * std::exp(-sigma);
    return {dx, dy, sigma, opaque, std::min(0.999, opaque)};
  }
};

/// Thresholds count as met by rounding within `within`, relative.
inline ReferencePicture picture(const Splats& s, std::int64_t width, std::int64_t height,
                                const std::vector<double>& backgrounds, double within) {
  const std::int64_t c = s.means.shape()[0], f = s.features.shape()[2];
  const auto count = static_cast<std::size_t>(c * height * width);
  ReferencePicture p{std::vector<double>(count * static_cast<std::size_t>(f)), std::vector<double>(count, 1.0),
                     std::vector<std::size_t>(count, std::numeric_limits<std::size_t>::max()), std::vector<bool>(count),
                     std::vector<double>(count)};
  std::vector<double> last_weight(count);
  for (std::int64_t image = 0; image < c; ++image) {
    double last_depth = -1;
    const std::vector<std::int64_t> order = by_depth(s.radii, s.depths, image);
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      const std::int64_t i = order[rank];
      const Footprint g(s, i, width, height);
      const double depth = s.depths.get_f64(i);
      const bool tie = static_cast<float>(depth) == static_cast<float>(last_depth);
      last_depth = depth;
      for (std::int64_t y = g.top; y < g.bottom; ++y)
        for (std::int64_t x = g.left; x < g.right; ++x) {
          const auto at = static_cast<std::size_t>((image * height + y) * width + x);
          if (rank >= p.ends[at]) continue;
          const Footprint::At here = g.at(x, y);
          const double alpha = here.alpha, opaque = here.opaque;
          const double weight = alpha * p.transmittance[at], left = p.transmittance[at] * (1 - alpha);
          const auto decided = [&](double share) {
            p.close[at] = true;
            p.share[at] = std::max(p.share[at], share);
          };
          if (std::abs(opaque * 255 - 1) < within || std::abs(opaque / 0.999 - 1) < within) decided(weight);
          if (!here.counts()) continue;
          if (tie) decided(std::max(weight, last_weight[at]));
          if (std::abs(left / 1e-4 - 1) < within) decided(weight);
          if (left <= 1e-4) {
            p.ends[at] = rank;
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

/// Gradients of a sum of the picture and its alpha with these weights ([c, h, w, f], [c, h, w]), as Splats are: back to
/// front, each alpha's share of what it lets through and of what it hides. Radii and depths have none.
struct SplatGradients {
  HostTensor means, conics, opacities, features;
};
inline SplatGradients picture_gradients(const Splats& s, const ReferencePicture& p, std::int64_t width,
                                        std::int64_t height, const std::vector<double>& backgrounds,
                                        const HostTensor& image_weight, const HostTensor& alpha_weight) {
  const std::int64_t f = s.features.shape()[2];
  SplatGradients out{HostTensor(DType::f64, s.means.shape()), HostTensor(DType::f64, s.conics.shape()),
                     HostTensor(DType::f64, s.opacities.shape()), HostTensor(DType::f64, s.features.shape())};
  const auto d_means = out.means.as_mutable<double>(), d_conics = out.conics.as_mutable<double>(),
             d_opacities = out.opacities.as_mutable<double>(), d_features = out.features.as_mutable<double>();
  const auto weights = image_weight.as<double>(), features = s.features.as<double>();
  std::vector<double> transmittance = p.transmittance, behind(transmittance.size());
  for (std::size_t at = 0; at < behind.size(); ++at) {
    const auto image = static_cast<std::int64_t>(at) / (width * height);
    behind[at] = -transmittance[at] * alpha_weight.as<double>()[at];
    for (std::int64_t k = 0; k < f; ++k)
      behind[at] += transmittance[at] * weights[at * static_cast<std::size_t>(f) + static_cast<std::size_t>(k)] *
                    backgrounds[static_cast<std::size_t>(image * f + k)];
  }
  for (std::int64_t image = 0; image < s.means.shape()[0]; ++image) {
    const std::vector<std::int64_t> order = by_depth(s.radii, s.depths, image);
    for (std::size_t rank = order.size(); rank-- > 0;) {
      const auto i = static_cast<std::size_t>(order[rank]);
      const Footprint g(s, order[rank], width, height);
      for (std::int64_t y = g.top; y < g.bottom; ++y)
        for (std::int64_t x = g.left; x < g.right; ++x) {
          const auto at = static_cast<std::size_t>((image * height + y) * width + x);
          const Footprint::At here = g.at(x, y);
          if (rank >= p.ends[at] || !here.counts()) continue;
          transmittance[at] /= 1 - here.alpha;
          double seen = 0;
          for (std::size_t k = 0, n = static_cast<std::size_t>(f); k < n; ++k) {
            seen += weights[at * n + k] * features[i * n + k];
            d_features[i * n + k] += weights[at * n + k] * here.alpha * transmittance[at];
          }
          const double d_alpha = transmittance[at] * seen - behind[at] / (1 - here.alpha);
          behind[at] += here.alpha * transmittance[at] * seen;
          if (here.opaque > 0.999) continue;
          d_opacities[i] += d_alpha * std::exp(-here.sigma);
          const double d_sigma = -d_alpha * here.alpha;
          d_means[2 * i] += d_sigma * (g.xx * here.dx + g.xy * here.dy);
          d_means[2 * i + 1] += d_sigma * (g.yy * here.dy + g.xy * here.dx);
          d_conics[3 * i] += d_sigma * 0.5 * here.dx * here.dx;
          d_conics[3 * i + 1] += d_sigma * here.dx * here.dy;
          d_conics[3 * i + 2] += d_sigma * 0.5 * here.dy * here.dy;
        }
    }
  }
  return out;
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
