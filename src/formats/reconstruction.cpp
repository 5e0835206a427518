#include <rlx/formats/reconstruction.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>

#include "sizes.hpp"

namespace rlx::formats {

namespace {

[[noreturn]] void fail(const std::string& what) { throw ArgumentError("a reconstruction: " + what); }

/// By sorting; `what` names the kind of thing.
template <class T>
void check_unique(std::vector<T> values, const char* what, auto text) {
  std::ranges::sort(values);
  const auto found = std::ranges::adjacent_find(values);
  if (found != values.end()) fail(std::string(what) + " " + text(*found) + " is there twice");
}

void check_points(const Reconstruction& r) {
  const SparsePoints& p = r.points;
  const std::int64_t n = p.size();
  using Shape = std::vector<std::int64_t>;
  const bool agree =
      p.positions.dtype() == DType::f64 && p.positions.shape() == Shape{n, 3} && p.colours.dtype() == DType::u8 &&
      p.colours.shape() == Shape{n, 3} && p.errors.dtype() == DType::f64 && p.errors.rank() == 1 &&
      p.ids.size() == static_cast<std::size_t>(n) && p.track_offsets.size() == static_cast<std::size_t>(n) + 1 &&
      p.track_offsets.front() == 0 && p.track_offsets.back() == static_cast<std::int64_t>(p.tracks.size()) &&
      std::ranges::is_sorted(p.track_offsets);
  if (!agree) fail("the arrays of its points do not agree");
  check_unique(p.ids, "point", [](std::uint64_t id) { return std::to_string(id); });
  for (const TrackElement& t : p.tracks)
    if (t.image >= r.images.size() || t.observation >= r.images[t.image].observations.size())
      fail("a track names observation " + std::to_string(t.observation) + " of image " + std::to_string(t.image) +
           ", which is not there");
}

void check_image(const Reconstruction& r, const PosedImage& image) {
  const std::string what = "image " + in_quotes(image.name);
  if (image.camera < 0 || image.camera >= static_cast<std::int64_t>(r.cameras.size()))
    fail(what + " has no camera " + std::to_string(image.camera));
  double squares = 0;
  for (const double q : image.rotation) squares += q * q;
  constexpr double rounding = 1e-6;  // of poses that are stored with few digits
  if (!(std::abs(squares - 1) <= 2 * rounding))
    fail(what + " has a rotation of length " + std::to_string(std::sqrt(squares)));
  for (const double t : image.translation)
    if (!std::isfinite(t)) fail(what + " has a translation that is not finite");
  for (const Observation& o : image.observations)
    if (o.point < -1 || o.point >= r.points.size())
      fail(what + " sees a point " + std::to_string(o.point) + ", which is not there");
}

}  // namespace

void check(const Reconstruction& r) {
  std::vector<std::uint32_t> ids;
  for (const Camera& c : r.cameras) {
    check(c);
    ids.push_back(c.id);
  }
  const auto number = [](std::uint32_t id) { return std::to_string(id); };
  check_unique(ids, "camera", number);
  ids.clear();
  std::vector<std::string> names;
  for (const PosedImage& image : r.images) {
    check_image(r, image);
    ids.push_back(image.id);
    names.push_back(image.name);
  }
  check_unique(ids, "image", number);
  check_unique(names, "image", [](const std::string& name) { return in_quotes(name); });
  check_points(r);
}

std::array<double, 9> rotation_matrix(const std::array<double, 4>& quaternion) {
  const auto [w, x, y, z] = quaternion;
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

std::array<double, 16> world_to_camera(const PosedImage& image) {
  const auto r = rotation_matrix(image.rotation);
  const auto [x, y, z] = image.translation;
  return {r[0], r[1], r[2], x, r[3], r[4], r[5], y, r[6], r[7], r[8], z, 0, 0, 0, 1};
}

// Shepperd (1978): the largest of the four squares is divided by, so that nothing cancels.
std::array<double, 4> rotation_quaternion(const std::array<double, 9>& m) {
  const double trace = m[0] + m[4] + m[8];
  const double squares[4] = {trace, 2 * m[0] - trace, 2 * m[4] - trace, 2 * m[8] - trace};  // 4 q_i^2 - 1
  const auto largest = static_cast<std::size_t>(std::max_element(squares, squares + 4) - squares);
  const double wx = m[7] - m[5], wy = m[2] - m[6], wz = m[3] - m[1], xy = m[1] + m[3], xz = m[2] + m[6],
               yz = m[5] + m[7], four = 1 + squares[largest];
  std::array<double, 4> q{};
  switch (largest) {
    case 0:
      q = {four, wx, wy, wz};
      break;
    case 1:
      q = {wx, four, xy, xz};
      break;
    case 2:
      q = {wy, xy, four, yz};
      break;
    default:
      q = {wz, xz, yz, four};
  }
  const double length = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
  const double scale = (q[0] < 0 ? -1 : 1) / length;
  for (double& part : q) part *= scale;
  return q;
}

}  // namespace rlx::formats
