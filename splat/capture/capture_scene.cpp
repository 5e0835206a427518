#include <rlx/ir/error.hpp>
#include <rlx/splat/capture.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "splat/random.hpp"

namespace rlx::splat {

namespace {

using Vector = std::array<double, 3>;

constexpr std::uint64_t point_numbers = 1;  // The purpose of random numbers.

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector scaled(const Vector& a, double s) { return {a[0] * s, a[1] * s, a[2] * s}; }
Vector unit(const Vector& a) { return scaled(a, 1 / std::sqrt(dot(a, a))); }

struct Ball {
  Vector centre{};
  double radius = 0;
};

/// Around the median of the means, with 99 of 100 of them.
Ball ball_around(const formats::GaussianCloud& scene) {
  const auto means = scene.means.as<float>();
  const auto n = static_cast<std::size_t>(scene.size());
  Ball b;
  std::vector<double> values(n);
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < n; ++i) values[i] = means[3 * i + k];
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n / 2), values.end());
    b.centre[k] = values[n / 2];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Vector d{means[3 * i] - b.centre[0], means[3 * i + 1] - b.centre[1], means[3 * i + 2] - b.centre[2]};
    values[i] = std::sqrt(dot(d, d));
  }
  const auto most = static_cast<std::ptrdiff_t>((n - 1) * 99 / 100);
  std::nth_element(values.begin(), values.begin() + most, values.end());
  b.radius = std::max(values[static_cast<std::size_t>(most)], 1e-6);
  return b;
}

/// A camera at `from` that looks at `at`, with the world's -y up as far as can be.
formats::PosedImage look_at(const Vector& from, const Vector& at) {
  const Vector z = unit({at[0] - from[0], at[1] - from[1], at[2] - from[2]});
  const Vector down = std::abs(z[1]) < 0.999 ? Vector{0, 1, 0} : Vector{0, 0, 1};
  const Vector x = unit(cross(down, z)), y = cross(z, x);
  formats::PosedImage pose;
  pose.rotation = formats::rotation_quaternion({x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]});
  pose.translation = {-dot(x, from), -dot(y, from), -dot(z, from)};
  return pose;
}

std::vector<formats::PosedImage> poses_around(const Ball& ball, double distance, int views) {
  const double turn = std::numbers::pi * (3 - std::sqrt(5.0));
  std::vector<formats::PosedImage> poses;
  for (int i = 0; i < views; ++i) {
    const double height = 1 - (2 * i + 1.0) / views, across = std::sqrt(1 - height * height), angle = turn * i;
    const Vector from{ball.centre[0] + distance * across * std::cos(angle), ball.centre[1] + distance * height,
                      ball.centre[2] + distance * across * std::sin(angle)};
    poses.push_back(look_at(from, ball.centre));
    char name[32];
    std::snprintf(name, sizeof name, "%04d.png", i);
    poses.back().name = name;
    poses.back().id = static_cast<std::uint32_t>(i + 1);
  }
  return poses;
}

formats::SparsePoints points_of(const formats::GaussianCloud& scene, double noise, std::uint64_t seed) {
  constexpr double basis = 0.28209479177387814;  // The harmonic of degree 0.
  const std::int64_t n = scene.size(), row = 3 * formats::sh_coefficients(scene.sh_degree);
  Random random(seed, point_numbers);
  formats::SparsePoints p;
  p.positions = HostTensor(DType::f64, {n, 3});
  p.colours = HostTensor(DType::u8, {n, 3});
  p.errors = HostTensor(DType::f64, {n});
  p.track_offsets.assign(static_cast<std::size_t>(n) + 1, 0);
  const auto positions = p.positions.as_mutable<double>();
  for (std::int64_t i = 0; i < n; ++i) {
    p.ids.push_back(static_cast<std::uint64_t>(i + 1));
    for (std::int64_t k = 0; k < 3; ++k) {
      positions[static_cast<std::size_t>(3 * i + k)] = scene.means.get_f64(3 * i + k) + noise * random.normal();
      p.colours.set_f64(3 * i + k, std::round(255 * std::clamp(0.5 + basis * scene.sh.get_f64(i * row + k), 0.0, 1.0)));
    }
  }
  return p;
}

}  // namespace

Capture capture_scene(const formats::GaussianCloud& scene, const SyntheticCapture& o) {
  check(scene);
  if (scene.size() == 0) throw ArgumentError("a capture of a scene without Gaussians");
  if (o.views < 1) throw ArgumentError("a capture of " + std::to_string(o.views) + " views");
  if (!(o.field_of_view > 0 && o.field_of_view < std::numbers::pi))
    throw ArgumentError("a field of view of " + std::to_string(o.field_of_view) + " radians: it is between 0 and pi");
  if (!(o.distance >= 0) || !(o.point_noise >= 0))
    throw ArgumentError("the distance of a capture and the noise of its points are not negative");
  const Ball ball = ball_around(scene);
  const double focal = 0.5 * static_cast<double>(o.width) / std::tan(o.field_of_view / 2);
  // The smaller of the angles that width and height take must hold the ball.
  const double half = std::atan(0.5 * static_cast<double>(std::min(o.width, o.height)) / focal);
  const double distance = o.distance > 0 ? o.distance : ball.radius / std::sin(half);

  Capture c;
  auto& r = c.reconstruction;
  r.cameras = {{1,
                formats::CameraModel::pinhole,
                o.width,
                o.height,
                {focal, focal, static_cast<double>(o.width) / 2, static_cast<double>(o.height) / 2}}};
  formats::check(r.cameras[0]);
  r.images = poses_around(ball, distance, o.views);
  r.points = points_of(scene, o.point_noise * ball.radius, o.seed);
  const Renderer draw(scene, {.mode = o.mode, .background = o.background, .device = o.device});
  for (const formats::PosedImage& pose : r.images) c.images.push_back(unit_bytes(draw(r.cameras[0], pose)));
  return c;
}

}  // namespace rlx::splat
