#include <rlx/formats/camera.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace rlx::formats {

namespace {

struct ModelRow {
  std::string_view name;
  std::size_t parameters;
  bool one_focal, fisheye;
};
constexpr ModelRow models[] = {
    {"SIMPLE_PINHOLE", 3, true, false}, {"PINHOLE", 4, false, false},
    {"SIMPLE_RADIAL", 4, true, false},  {"RADIAL", 5, true, false},
    {"OPENCV", 8, false, false},        {"OPENCV_FISHEYE", 8, false, true},
    {"FULL_OPENCV", 12, false, false},  {"SIMPLE_RADIAL_FISHEYE", 4, true, true},
    {"RADIAL_FISHEYE", 5, true, true},
};

const ModelRow& row(CameraModel m) { return models[static_cast<std::size_t>(m)]; }

constexpr int most_steps = 100;
constexpr double least_focal = 1e-9;  // of the larger side of the image: 180 degrees in the digits of f32
constexpr double converged = 1e-12;   // in units of the focal length
constexpr double accepted = 1e-9;     // what is left when no step gets nearer

}  // namespace

std::string_view name(CameraModel m) { return row(m).name; }
std::size_t parameter_count(CameraModel m) { return row(m).parameters; }
bool is_fisheye(CameraModel m) { return row(m).fisheye; }

std::optional<CameraModel> camera_model(std::string_view name) {
  for (std::size_t i = 0; i < std::size(models); ++i)
    if (models[i].name == name) return static_cast<CameraModel>(i);
  return std::nullopt;
}

void check(const Camera& c) {
  const std::string what = "camera " + std::to_string(c.id) + " (" + std::string(name(c.model)) + ")";
  if (c.width < 1 || c.height < 1 || c.width > std::numeric_limits<std::int32_t>::max() ||
      c.height > std::numeric_limits<std::int32_t>::max())
    throw ArgumentError(what + ": a size of " + std::to_string(c.width) + " x " + std::to_string(c.height) + " pixels");
  if (c.parameters.size() != parameter_count(c.model))
    throw ArgumentError(what + ": " + std::to_string(c.parameters.size()) + " parameters, expected " +
                        std::to_string(parameter_count(c.model)));
  for (const double p : c.parameters)
    if (!std::isfinite(p)) throw ArgumentError(what + ": a parameter is not finite");
  const Pinhole p = pinhole_of(c);
  if (p.fx <= 0 || p.fy <= 0) throw ArgumentError(what + ": a focal length must be positive");
  const double least = least_focal * static_cast<double>(std::max(c.width, c.height));
  if (p.fx < least || p.fy < least)
    throw ArgumentError(what +
                        ": a focal length is below a billionth of the image's size: the intrinsics are singular");
}

Pinhole pinhole_of(const Camera& c) {
  const auto& p = c.parameters;
  if (row(c.model).one_focal) return {p[0], p[0], p[1], p[2]};
  return {p[0], p[1], p[2], p[3]};
}

Lens::Lens(const Camera& c) : fisheye_(is_fisheye(c.model)) {
  check(c);
  pinhole_ = pinhole_of(c);
  const auto& p = c.parameters;
  switch (c.model) {
    case CameraModel::simple_pinhole:
    case CameraModel::pinhole:
      break;
    case CameraModel::simple_radial:
    case CameraModel::simple_radial_fisheye:
      k_[0] = p[3];
      break;
    case CameraModel::radial:
    case CameraModel::radial_fisheye:
      k_[0] = p[3];
      k_[1] = p[4];
      break;
    case CameraModel::opencv_fisheye:
      std::copy_n(p.begin() + 4, 4, k_.begin());
      break;
    case CameraModel::full_opencv:
      std::copy_n(p.begin() + 8, 4, k_.begin() + 2);
      [[fallthrough]];
    case CameraModel::opencv:
      k_[0] = p[4];
      k_[1] = p[5];
      p1_ = p[6];
      p2_ = p[7];
      break;
  }
}

Lens::Radial Lens::radial(double s) const {
  const double above = 1 + s * (k_[0] + s * (k_[1] + s * k_[2])), below = 1 + s * (k_[3] + s * (k_[4] + s * k_[5])),
               above_slope = k_[0] + s * (2 * k_[1] + s * 3 * k_[2]),
               below_slope = k_[3] + s * (2 * k_[4] + s * 3 * k_[5]);
  return {above / below, (above_slope - above / below * below_slope) / below};
}

Point2 Lens::distort(Point2 ray) const {
  if (fisheye_) return distort_fisheye(ray);
  const auto [x, y] = ray;
  const double s = x * x + y * y, factor = radial(s).factor;
  return {x * factor + 2 * p1_ * x * y + p2_ * (s + 2 * x * x), y * factor + p1_ * (s + 2 * y * y) + 2 * p2_ * x * y};
}

Lens::Jacobian Lens::jacobian(Point2 ray) const {
  const auto [x, y] = ray;
  const auto [factor, slope] = radial(x * x + y * y);
  return {factor + 2 * x * x * slope + 2 * p1_ * y + 6 * p2_ * x, 2 * x * y * slope + 2 * p1_ * x + 2 * p2_ * y,
          factor + 2 * y * y * slope + 6 * p1_ * y + 2 * p2_ * x};
}

std::optional<Point2> Lens::undistort(Point2 distorted) const {
  if (fisheye_) return undistort_fisheye(distorted);
  Point2 ray = distorted;
  for (int step = 0; step < most_steps; ++step) {
    const Point2 at = distort(ray);
    const double dx = distorted[0] - at[0], dy = distorted[1] - at[1];
    const Jacobian j = jacobian(ray);
    const double step_x = (j.yy * dx - j.xy * dy) / j.determinant(), step_y = (j.xx * dy - j.xy * dx) / j.determinant();
    ray = {ray[0] + step_x, ray[1] + step_y};
    if (std::hypot(step_x, step_y) < converged) break;
  }
  const Point2 at = distort(ray);
  if (!sees(ray) || !(std::hypot(at[0] - distorted[0], at[1] - distorted[1]) < accepted)) return std::nullopt;
  return ray;
}

bool Lens::sees(Point2 ray) const {
  if (fisheye_) return bend(std::atan(std::hypot(ray[0], ray[1]))).slope > 0;
  const Jacobian j = jacobian(ray);
  return j.xx > 0 && j.determinant() > 0;
}

Lens::Bend Lens::bend(double angle) const {
  const double s = angle * angle;
  return {angle * (1 + s * (k_[0] + s * (k_[1] + s * (k_[2] + s * k_[3])))),
          1 + s * (3 * k_[0] + s * (5 * k_[1] + s * (7 * k_[2] + s * 9 * k_[3])))};
}

Point2 Lens::distort_fisheye(Point2 ray) const {
  const double r = std::hypot(ray[0], ray[1]);
  if (r == 0) return ray;
  const double scale = bend(std::atan(r)).angle / r;
  return {ray[0] * scale, ray[1] * scale};
}

std::optional<Point2> Lens::undistort_fisheye(Point2 distorted) const {
  const double wanted = std::hypot(distorted[0], distorted[1]);
  if (wanted == 0) return distorted;
  double angle = wanted;
  Bend at = bend(angle);
  for (int step = 0; step < most_steps && !(std::abs(at.angle - wanted) < converged); ++step) {
    angle -= (at.angle - wanted) / at.slope;
    at = bend(angle);
  }
  const bool in_front = angle > 0 && angle < std::numbers::pi / 2;
  if (!in_front || !(at.slope > 0) || !(std::abs(at.angle - wanted) < accepted)) return std::nullopt;
  const double scale = std::tan(angle) / wanted;
  return Point2{distorted[0] * scale, distorted[1] * scale};
}

Point2 Lens::pixel(Point2 ray) const {
  const auto [x, y] = distort(ray);
  return {pinhole_.fx * x + pinhole_.cx, pinhole_.fy * y + pinhole_.cy};
}

std::optional<Point2> Lens::ray(Point2 pixel) const {
  return undistort({(pixel[0] - pinhole_.cx) / pinhole_.fx, (pixel[1] - pinhole_.cy) / pinhole_.fy});
}

}  // namespace rlx::formats
