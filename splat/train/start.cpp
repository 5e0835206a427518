#include "splat/train/start.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "splat/emitted.hpp"
#include "splat/train/schedule.hpp"

namespace rlx::splat::train {

namespace {

using Vector = std::array<double, 3>;

struct Camera {
  Vector centre, axis;  ///< Where it is and where it looks.
  double reach;         ///< Tangent of half the smaller angle of view.
};

Camera camera_of(const Capture& capture, std::size_t view) {
  const auto m = formats::world_to_camera(capture.pose(view));
  Camera c{{}, {m[8], m[9], m[10]}, 0};
  for (std::size_t k = 0; k < 3; ++k) c.centre[k] = -(m[k] * m[3] + m[4 + k] * m[7] + m[8 + k] * m[11]);
  const formats::Camera& lens = capture.camera(view);
  const formats::Pinhole p = formats::pinhole_of(lens);
  c.reach = 0.5 * std::min(static_cast<double>(lens.width) / p.fx, static_cast<double>(lens.height) / p.fy);
  return c;
}

/// The point nearest to the axes of all cameras. Where they are parallel, it is drawn a little to the middle of the
/// cameras, an extent in front of them.
Vector looked_at(const std::vector<Camera>& cameras, double extent) {
  double a[3][4] = {};
  const auto n = static_cast<double>(cameras.size());
  for (const Camera& c : cameras)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        const double projector = static_cast<double>(i == j) - c.axis[i] * c.axis[j];
        const double little = i == j ? 1e-3 : 0;
        a[i][j] += (projector + little) / n;
        a[i][3] += (projector * c.centre[j] + little * (c.centre[j] + extent * c.axis[j])) / n;
      }
  for (std::size_t i = 0; i < 3; ++i)  // Symmetric and positive definite: no pivots are needed.
    for (std::size_t row = 0; row < 3; ++row) {
      if (row == i) continue;
      const double factor = a[row][i] / a[i][i];
      for (std::size_t j = i; j < 4; ++j) a[row][j] -= factor * a[i][j];
    }
  return {a[0][3] / a[0][0], a[1][3] / a[1][1], a[2][3] / a[2][2]};
}

std::vector<Camera> cameras_of(const Capture& capture) {
  std::vector<Camera> out;
  for (std::size_t i = 0; i < capture.size(); ++i) out.push_back(camera_of(capture, i));
  return out;
}

double distance(const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

double extent_of(const std::vector<Camera>& cameras) {
  Vector middle{};
  for (const Camera& c : cameras)
    for (std::size_t k = 0; k < 3; ++k) middle[k] += c.centre[k] / static_cast<double>(cameras.size());
  double most = 0;
  for (const Camera& c : cameras) most = std::max(most, distance(c.centre, middle));
  return most > 0 ? 1.1 * most : 1;  // One camera, or all at one place: the unit of length is as good as any.
}

/// Evenly in the largest ball around what is looked at that all cameras see whole, on average.
void random_places(formats::GaussianCloud& c, const Capture& capture, Random& random) {
  const std::vector<Camera> cameras = cameras_of(capture);
  const Vector centre = looked_at(cameras, extent_of(cameras));
  double radius = 0;
  for (const Camera& camera : cameras)
    radius += distance(camera.centre, centre) * std::sin(std::atan(camera.reach)) / static_cast<double>(cameras.size());
  const std::int64_t row = 3 * formats::sh_coefficients(c.sh_degree);
  for (std::int64_t i = 0; i < c.size(); ++i) {
    Vector p;
    do {
      for (double& x : p) x = random.uniform(-1, 1);
    } while (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] > 1);
    for (std::int64_t k = 0; k < 3; ++k) {
      c.means.set_f64(3 * i + k, centre[static_cast<std::size_t>(k)] + radius * p[static_cast<std::size_t>(k)]);
      c.sh.set_f64(i * row + k, (random.uniform() - 0.5) / formats::sh_constant);
    }
  }
}

void places_of_points(formats::GaussianCloud& c, const formats::SparsePoints& points) {
  const std::int64_t row = 3 * formats::sh_coefficients(c.sh_degree);
  for (std::int64_t i = 0; i < c.size(); ++i)
    for (std::int64_t k = 0; k < 3; ++k) {
      if (!std::isfinite(static_cast<float>(points.positions.get_f64(3 * i + k))))
        throw ArgumentError("point " + std::to_string(points.ids[static_cast<std::size_t>(i)]) +
                            " of the capture is not finite in 32 bits");
      c.means.set_f64(3 * i + k, points.positions.get_f64(3 * i + k));
      c.sh.set_f64(i * row + k, (points.colours.get_f64(3 * i + k) / 255 - 0.5) / formats::sh_constant);
    }
}

}  // namespace

double extent_of(const Capture& capture) { return extent_of(cameras_of(capture)); }

formats::GaussianCloud first_gaussians(const Capture& capture, const TrainOptions& o) {
  const auto& points = capture.reconstruction.points;
  const bool from_points = o.start == Start::points;
  const std::int64_t n = from_points ? points.size() : o.random_points;
  if (n == 0) throw ArgumentError("training: start is points, and the capture has none: start at random");
  if (n > o.most)
    throw ArgumentError("training: most is " + std::to_string(o.most) + ", less than the " + counted(n, "Gaussian") +
                        " that it starts with");
  formats::GaussianCloud c = formats::make_gaussian_cloud(n, o.degree);
  Random random(o.seed, for_start);
  if (from_points) places_of_points(c, points);
  else random_places(c, capture, random);

  // Of one or two Gaussians, those that there are count as neighbours.
  const auto k = std::min<std::int64_t>(3, n - 1);
  // Kheradmand's first Gaussians are points that grow where the images want them. At random places that serves adaptive
  // density control as well: Gaussians as wide as their distances fill the space before the cameras, and stay there.
  const bool mcmc = o.densification == Densification::mcmc, small = mcmc || !from_points;
  const Tensor squares = k > 0 ? emitted({Tensor(c.means)}, [&](ValuesIn v) { return knn(v[0], k); })
                               : Tensor(HostTensor(DType::f32, {n}));
  const double extent = extent_of(capture), opacity = mcmc ? 0.5 : 0.1;
  for (std::int64_t i = 0; i < n; ++i) {
    const double square = k > 0 ? squares.host_tensor().get_f64(i) : 1e-4 * extent * extent;
    const double scale = (small ? 0.1 : 1) * std::sqrt(std::max(square, 1e-7));  // As Kerbl's program limits it.
    for (std::int64_t a = 0; a < 3; ++a) c.log_scales.set_f64(3 * i + a, std::log(scale));
    c.quaternions.set_f64(4 * i, 1);
    c.opacity_logits.set_f64(i, std::log(opacity / (1 - opacity)));
  }
  return c;
}

}  // namespace rlx::splat::train
