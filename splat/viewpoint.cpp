#include <rlx/ir/error.hpp>
#include <rlx/splat/viewpoint.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace rlx::splat {

namespace {

double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
/// a + s b
Vector3 sum(const Vector3& a, double s, const Vector3& b) {
  return {a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]};
}
double length(const Vector3& a) { return std::hypot(a[0], a[1], a[2]); }
Vector3 unit(const Vector3& a) { return sum({}, 1 / length(a), a); }

/// `up` where it has a part across `direction`, else an axis that has.
Vector3 up_for(const Vector3& direction, const Vector3& up) {
  constexpr double parallel = 1e-6;  // sine of the angle
  if (length(up) > 0 && length(cross(unit(up), direction)) > parallel) return unit(up);
  return std::abs(direction[2]) < 0.9 ? Vector3{0, 0, -1} : Vector3{1, 0, 0};
}

}  // namespace

Ball ball_around(const formats::GaussianCloud& scene) {
  check(scene);
  const auto means = scene.means.as<float>();
  std::vector<Vector3> points;
  for (std::size_t i = 0; i < static_cast<std::size_t>(scene.size()); ++i) {
    const Vector3 p{means[3 * i], means[3 * i + 1], means[3 * i + 2]};
    if (std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2])) points.push_back(p);
  }
  Ball ball;
  if (points.empty()) return ball;
  std::vector<double> values(points.size());
  const auto quantile = [&](std::size_t at) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
    return values[at];
  };
  for (std::size_t k = 0; k < 3; ++k) {
    std::ranges::transform(points, values.begin(), [&](const Vector3& p) { return p[k]; });
    ball.centre[k] = quantile(points.size() / 2);
  }
  std::ranges::transform(points, values.begin(), [&](const Vector3& p) { return length(sum(p, -1, ball.centre)); });
  ball.radius = std::max(quantile((points.size() - 1) * 99 / 100), 1e-6);
  return ball;
}

formats::Camera pinhole_camera(std::int64_t width, std::int64_t height, double field_of_view) {
  if (!(field_of_view > 0 && field_of_view < std::numbers::pi))
    throw ArgumentError("a field of view of " + std::to_string(field_of_view) + " radians: it is between 0 and pi");
  const double w = static_cast<double>(width), h = static_cast<double>(height);
  const double focal = w / 2 / std::tan(field_of_view / 2);
  formats::Camera camera{1, formats::CameraModel::pinhole, width, height, {focal, focal, w / 2, h / 2}};
  formats::check(camera);
  return camera;
}

formats::PosedImage look_at(const Vector3& eye, const Vector3& target, const Vector3& up) {
  const Vector3 ahead = sum(target, -1, eye);
  if (!std::isfinite(length(ahead)) || !std::isfinite(length(up)) || length(ahead) == 0)
    throw ArgumentError("a camera must look from one finite point at another");
  const Vector3 z = unit(ahead), x = unit(cross(z, up_for(z, up))), y = cross(z, x);
  formats::PosedImage pose;
  pose.rotation = formats::rotation_quaternion({x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]});
  pose.translation = {-dot(x, eye), -dot(y, eye), -dot(z, eye)};
  return pose;
}

double framing_distance(const Ball& ball, const formats::Camera& camera) {
  const formats::Pinhole p = formats::pinhole_of(camera);
  const double tangent =
      std::min(static_cast<double>(camera.width) / p.fx, static_cast<double>(camera.height) / p.fy) / 2;
  return ball.radius / std::sin(std::atan(tangent));
}

Vector3 framing_eye(const Ball& ball, const formats::Camera& camera, const Vector3& up) {
  const Vector3 upwards = unit(length(up) > 0 ? up : world_up);
  const Vector3 front = std::abs(upwards[2]) < 0.9 ? Vector3{0, 0, -1} : Vector3{0, -1, 0};
  return sum(ball.centre, framing_distance(ball, camera), unit(sum(front, 0.3, upwards)));
}

std::vector<formats::PosedImage> orbit(const Vector3& eye, const Vector3& target, int count, const Vector3& up) {
  if (count < 1) throw ArgumentError("an orbit of " + std::to_string(count) + " cameras");
  (void)look_at(eye, target, up);  // its errors
  const Vector3 out = sum(eye, -1, target), axis = up_for(unit(out), up);
  const Vector3 along = sum({}, dot(out, axis), axis), radial = sum(out, -1, along), sideways = cross(axis, radial);
  std::vector<formats::PosedImage> poses;
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * i / count;
    const Vector3 from = sum(sum(sum(target, 1, along), std::cos(angle), radial), std::sin(angle), sideways);
    poses.push_back(look_at(from, target, axis));
  }
  return poses;
}

}  // namespace rlx::splat
