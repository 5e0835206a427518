#include <rlx/ir/error.hpp>
#include <rlx/ir/text_reader.hpp>
#include <rlx/splat/capture.hpp>
#include <rlx/splat/viewpoint.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "splat/random.hpp"

namespace rlx::splat {

namespace {

constexpr std::uint64_t point_numbers = 1;  // The purpose of random numbers.

/// A spiral from above down to an elevation, whose turns are as far apart as the views along it (E. Rakhmanov, E. Saff
/// and Y. Zhou, Math. Res. Lett. 1, 1994): all views have equal areas of the sphere, and the next one is a neighbour,
/// as in a walk around the scene.
std::vector<formats::PosedImage> walk_around(const Ball& ball, double distance, int views, double lowest_elevation) {
  const double fall = (1 - std::sin(lowest_elevation)) / views;  // Of the height on the unit sphere from view to view,
  const double stride = std::sqrt(2 * std::numbers::pi * fall);  // of which each has the square of this.
  const auto across = [&](double i) {
    const double height = 1 - fall * i;
    return std::sqrt(1 - height * height);
  };
  std::vector<formats::PosedImage> poses;
  double angle = 0;
  for (int i = 0; i < views; ++i) {
    if (i > 0) angle += stride / across(i);  // As wide as half way between the two, which stand at i - 0.5 and i + 0.5.
    const double out = distance * across(i + 0.5), up = distance * (1 - fall * (i + 0.5));
    Vector3 from{out * std::cos(angle), 0, out * std::sin(angle)};
    for (std::size_t k = 0; k < 3; ++k) from[k] += ball.centre[k] + up * world_up[k];
    poses.push_back(look_at(from, ball.centre));
    char name[32];
    std::snprintf(name, sizeof name, "%04d.png", i);
    poses.back().name = name;
    poses.back().id = static_cast<std::uint32_t>(i + 1);
  }
  return poses;
}

formats::SparsePoints points_of(const formats::GaussianCloud& scene, double noise, std::uint64_t seed) {
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
      p.colours.set_f64(
          3 * i + k,
          std::round(255 * std::clamp(0.5 + formats::sh_constant * scene.sh.get_f64(i * row + k), 0.0, 1.0)));
    }
  }
  return p;
}

}  // namespace

Capture capture_scene(const formats::GaussianCloud& scene, const SyntheticCapture& o) {
  check(scene);
  if (scene.size() == 0) throw ArgumentError("a capture of a scene without Gaussians");
  const auto require = [](bool holds, const char* what, double value, const char* expected) {
    if (holds) return;
    std::string text = "capture: " + std::string(what) + " is ";
    print_number(text, value);
    throw ArgumentError(text + ", not " + expected);
  };
  require(o.views >= 1, "views", o.views, "a number of at least 1");
  require(o.distance >= 0 && std::isfinite(o.distance), "distance", o.distance, "a number of at least 0");
  require(o.point_noise >= 0 && std::isfinite(o.point_noise), "point_noise", o.point_noise, "a number of at least 0");
  require(std::abs(o.lowest_elevation) <= std::numbers::pi / 2 && std::sin(o.lowest_elevation) < 1, "lowest_elevation",
          o.lowest_elevation, "a number of radians from -pi/2 to below pi/2");
  const Ball ball = ball_around(scene);
  const formats::Camera camera = pinhole_camera(o.width, o.height, o.field_of_view);
  const double distance = o.distance > 0 ? o.distance : framing_distance(ball, camera);

  Capture c;
  auto& r = c.reconstruction;
  r.cameras = {camera};
  r.images = walk_around(ball, distance, o.views, o.lowest_elevation);
  r.points = points_of(scene, o.point_noise * ball.radius, o.seed);
  const Renderer draw(scene, {.mode = o.mode, .background = o.background, .device = o.device});
  for (const formats::PosedImage& pose : r.images) c.images.push_back(unit_bytes(draw(r.cameras[0], pose)));
  return c;
}

}  // namespace rlx::splat
