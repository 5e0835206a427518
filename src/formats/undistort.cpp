#include <rlx/formats/undistort.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "sizes.hpp"

namespace rlx::formats {

namespace {

struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
  void add(double x) {
    least = std::min(least, x);
    most = std::max(most, x);
  }
  bool empty() const { return least > most; }
};

/// The scale of one dimension: `low` and `high` are where the two edges of the photograph come to lie.
double scale(double centre, double size, const Range& low, const Range& high, Keep keep) {
  constexpr double smallest = 0.2, largest = 2;
  if (low.empty() || high.empty()) return keep == Keep::valid_pixels ? smallest : largest;
  const double last = size - 0.5;
  // Times these, the edges would lie where they were.
  const double inner = std::max(centre / (centre - low.most), (last - centre) / (high.least - centre)),
               outer = std::min(centre / (centre - low.least), (last - centre) / (high.most - centre));
  const double wanted = 1 / (keep == Keep::valid_pixels ? inner : outer);
  return std::isfinite(wanted) ? std::clamp(wanted, smallest, largest) : 1;
}

/// Pixels of an edge that are looked at, each of them up to the most, of more as many evenly from the first to the
/// last. What is between these moves an extremum by a 2^35th of the size at most, in units of the displacement's
/// curvature over it: less than a pixel.
class EdgePixels {
 public:
  static constexpr std::int64_t most = std::int64_t{1} << 16;
  explicit EdgePixels(std::int64_t size) : last_(size - 1), steps_(std::min(size, most) - 1) {}
  /// f(centre) of each.
  template <class F>
  void each(const F& f) const {
    for (std::int64_t i = 0; i <= steps_; ++i)
      f(static_cast<double>(steps_ > 0 ? last_ * i / steps_ : 0) + 0.5);  // below 2^31 * 2^16
  }

 private:
  std::int64_t last_, steps_;
};

template <class T>
T stored(float x) {
  if constexpr (std::is_floating_point_v<T>) return x;
  else return static_cast<T>(x + 0.5f);
}

template <class T>
void warp(const HostTensor& image, HostTensor& out, const Camera& from, const Camera& to) {
  const Lens source(from), target(to);
  const std::int64_t channels = image.shape()[2], width = from.width, height = from.height;
  const T* in = image.as<T>().data();
  T* pixel = out.as_mutable<T>().data();
  for (std::int64_t v = 0; v < to.height; ++v) {
    for (std::int64_t u = 0; u < to.width; ++u, pixel += channels) {
      const auto ray = target.ray({static_cast<double>(u) + 0.5, static_cast<double>(v) + 0.5});
      if (!ray || !source.sees(*ray)) continue;
      const auto [x, y] = source.pixel(*ray);
      if (!(x >= 0 && y >= 0 && x <= static_cast<double>(width) && y <= static_cast<double>(height))) continue;
      // Beyond the centres of the pixels at the edge, their colours go on.
      const double px = std::clamp(x - 0.5, 0.0, static_cast<double>(width - 1)),
                   py = std::clamp(y - 0.5, 0.0, static_cast<double>(height - 1));
      const auto x0 = static_cast<std::int64_t>(px), y0 = static_cast<std::int64_t>(py);
      const std::int64_t x1 = std::min(x0 + 1, width - 1), y1 = std::min(y0 + 1, height - 1);
      const auto fx = static_cast<float>(px - static_cast<double>(x0)),
                 fy = static_cast<float>(py - static_cast<double>(y0));
      for (std::int64_t c = 0; c < channels; ++c) {
        const auto at = [&](std::int64_t i, std::int64_t j) {
          return static_cast<float>(in[(j * width + i) * channels + c]);
        };
        const float above = at(x0, y0) + fx * (at(x1, y0) - at(x0, y0)),
                    below = at(x0, y1) + fx * (at(x1, y1) - at(x0, y1));
        pixel[c] = stored<T>(above + fy * (below - above));
      }
    }
  }
}

}  // namespace

Camera undistorted_camera(const Camera& camera, Keep keep) {
  const Lens lens(camera);
  const Pinhole p = pinhole_of(camera);
  Camera out{camera.id, CameraModel::pinhole, camera.width, camera.height, {p.fx, p.fy, p.cx, p.cy}};
  if (camera.model == CameraModel::simple_pinhole || camera.model == CameraModel::pinhole) return out;

  const auto width = static_cast<double>(camera.width), height = static_cast<double>(camera.height);
  Range left, right, top, bottom;
  const auto add = [&](Range& range, Point2 pixel, std::size_t k) {
    if (const auto ray = lens.ray(pixel)) range.add(k == 0 ? p.fx * (*ray)[0] + p.cx : p.fy * (*ray)[1] + p.cy);
  };
  EdgePixels(camera.height).each([&](double y) {
    add(left, {0.5, y}, 0);
    add(right, {width - 0.5, y}, 0);
  });
  EdgePixels(camera.width).each([&](double x) {
    add(top, {x, 0.5}, 1);
    add(bottom, {x, height - 0.5}, 1);
  });
  out.width = std::max<std::int64_t>(1, static_cast<std::int64_t>(scale(p.cx, width, left, right, keep) * width));
  out.height = std::max<std::int64_t>(1, static_cast<std::int64_t>(scale(p.cy, height, top, bottom, keep) * height));
  out.parameters[2] *= static_cast<double>(out.width) / width;
  out.parameters[3] *= static_cast<double>(out.height) / height;
  return out;
}

HostTensor undistort_image(const HostTensor& image, const Camera& from, const Camera& to) {
  check(from);
  check(to);
  if (image.rank() != 3 || image.shape()[0] != from.height || image.shape()[1] != from.width)
    throw ArgumentError("an image " + shape_text(image.shape()) + " of a camera of " + counted(from.height, "row") +
                        " and " + counted(from.width, "column"));
  HostTensor out(image.dtype(), {to.height, to.width, image.shape()[2]});
  if (out.numel() == 0) return out;
  switch (image.dtype()) {
    case DType::u8:
      warp<std::uint8_t>(image, out, from, to);
      return out;
    case DType::u16:
      warp<std::uint16_t>(image, out, from, to);
      return out;
    case DType::f32:
      warp<float>(image, out, from, to);
      return out;
    default:
      throw ArgumentError("an image must be u8, u16 or f32, not " + std::string(name(image.dtype())));
  }
}

}  // namespace rlx::formats
