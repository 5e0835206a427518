#include "splat/ops/projecting.hpp"

#include <cmath>

namespace rlx::splat {

using A = ProjectAttrs;

Answer project_means(const A&, const Signature& s) {
  if (s.rank(0) != 2) return Answer::no("rank " + std::to_string(s.rank(0)));
  return s.equal(s.shape(0)[1], 3);
}
Answer project_covars(const A&, const Signature& s) { return has_shape(s, 1, {s.shape(0)[0], 3, 3}); }
Answer project_views(const A&, const Signature& s) {
  if (s.rank(2) != 3) return Answer::no("rank " + std::to_string(s.rank(2)));
  return has_shape(s, 2, {s.shape(2)[0], 4, 4});
}
Answer project_intrinsics(const A&, const Signature& s) { return has_shape(s, 3, {s.shape(2)[0], 3, 3}); }
Answer project_size(const A& a, const Signature&) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  return a.width >= 1 && a.width <= most && a.height >= 1 && a.height <= most;
}
Answer project_depths(const A& a, const Signature&) {
  return a.near < a.far && (a.camera == CameraModel::ortho || a.near > 0);
}
Answer project_filters(const A& a, const Signature&) {
  return a.radius_clip >= 0 && a.blur >= 0 && std::isfinite(a.radius_clip) && std::isfinite(a.blur);
}

std::vector<SampleOperand> project_sample(DType t) {
  const std::vector<double> views{1,   0, 0,   0.1, 0, 1, 0, -0.2, 0,    0, 1,   4, 0, 0, 0, 1,
                                  0.8, 0, 0.6, 0,   0, 1, 0, 0,    -0.6, 0, 0.8, 5, 0, 0, 0, 1};
  const std::vector<double> intrinsics{20, 0, 16, 0, 22, 12, 0, 0, 1, 24, 0, 15, 0, 20, 13, 0, 0, 1};
  return {{tensor(t, {3, 3}), Fill::uniform, -0.7, 0.7},
          {tensor(t, {3, 3, 3}), Fill::positive_definite},
          {tensor(t, {2, 4, 4}), views},
          {tensor(t, {2, 3, 3}), intrinsics}};
}

namespace {

using Vector = std::array<Value, 3>;

Value less(Value x, Value y) { return ops::compare(x, y, ops::Direction::lt); }
Value less_equal(Value x, Value y) { return ops::compare(x, y, ops::Direction::le); }
Value constant_like(Value x, double v) { return ops::full_like(x, v); }
Value all(std::initializer_list<Value> flags) {
  Value out;
  for (const Value& f : flags) out = out ? ops::logical_and(out, f) : f;
  return out;
}
/// x where the flag is set, else a number; neither side's gradient reaches the other.
Value kept(Value flag, Value x, double otherwise) {
  return ops::select(flag, x, ops::scalar(*x.builder, x.dtype(), otherwise));
}
Value dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// What the cameras are, each value [c, 1]. One with an entry that is no number or beyond the limit, or a focal length
/// whose inverse is, sees nothing: it is replaced by one that can be computed with, and `sees` is false.
struct Cameras {
  Value sees;
  std::array<Vector, 3> rotation{};
  Vector translation{};
  Value fx, fy, cx, cy;
};

Cameras cameras_of(Value views, Value intrinsics) {
  const Dim c = views.shape()[0];
  const double limit = square_limit(views.dtype());
  const auto entry = [&](Value m, int i, int j) {
    return ops::reshape(ops::slice(m, {0, i, j}, {c, i + 1, j + 1}), {c, 1});
  };
  Value sees;
  Values read;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) read.push_back(entry(views, i, j));
  for (auto [i, j] : {std::pair{0, 0}, {1, 1}, {0, 2}, {1, 2}}) read.push_back(entry(intrinsics, i, j));
  for (const Value& v : read) sees = sees ? ops::logical_and(sees, bounded(v, limit)) : bounded(v, limit);
  for (std::size_t focal : {12, 13})
    sees = ops::logical_and(sees, less_equal(constant_like(read[focal], 1 / limit), ops::abs(read[focal])));
  const auto safe = [&](std::size_t k) { return kept(sees, read[k], k == 12 || k == 13 ? 1 : 0); };
  Cameras out{.sees = sees, .fx = safe(12), .fy = safe(13), .cx = safe(14), .cy = safe(15)};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) out.rotation[i][j] = safe(4 * i + j);
    out.translation[i] = safe(4 * i + 3);
  }
  return out;
}

/// The Gaussians, each value [1, n]; those with entries that are no numbers or beyond the limit likewise.
struct Gaussians {
  Value usable;
  Vector mean;
  std::array<Value, 6> covariance;  // xx, xy, xz, yy, yz, zz
};

Gaussians gaussians_of(Value means, Value covars) {
  const Dim n = means.shape()[0];
  const double limit = square_limit(means.dtype());
  Values read;
  for (int i = 0; i < 3; ++i) read.push_back(ops::reshape(ops::slice_axis(means, 1, i, i + 1), {1, n}));
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) read.push_back(ops::reshape(ops::slice(covars, {0, i, j}, {n, i + 1, j + 1}), {1, n}));
  Gaussians out;
  for (const Value& v : read)
    out.usable = out.usable ? ops::logical_and(out.usable, bounded(v, limit)) : bounded(v, limit);
  for (std::size_t k = 0; k < 9; ++k) (k < 3 ? out.mean[k] : out.covariance[k - 3]) = kept(out.usable, read[k], 0);
  return out;
}

/// Where a point is in the image, and the two rows of the Jacobian there; an absent entry is 0.
struct ImagePoint {
  Value u, v;
  Vector du, dv;
};

// The quotients in the Jacobian are held within the image and 0.15 of its width (height) on each side: linearised far
// outside, Gaussians would be stretched without limit.
ImagePoint pinhole(const Cameras& k, const Vector& p, const A& a) {
  const Value inverse = 1.0 / p[2];
  const auto axis = [&](Value x, Value f, Value c, double size) {
    const Value quotient = x * inverse, margin = 0.15 * size / f;
    const Value low = ops::broadcast_to(ops::neg(c / f) - margin, quotient.shape()),
                high = ops::broadcast_to((size - c) / f + margin, quotient.shape());
    return std::array{f * quotient + c, f * inverse, ops::neg(f * ops::clamp(low, quotient, high) * inverse)};
  };
  const auto [u, ux, uz] = axis(p[0], k.fx, k.cx, static_cast<double>(a.width));
  const auto [v, vy, vz] = axis(p[1], k.fy, k.cy, static_cast<double>(a.height));
  return {u, v, {ux, Value{}, uz}, {Value{}, vy, vz}};
}

ImagePoint orthographic(const Cameras& k, const Vector& p) {
  return {k.fx * p[0] + k.cx, k.fy * p[1] + k.cy, {k.fx, Value{}, Value{}}, {Value{}, k.fy, Value{}}};
}

// Equidistant: the distance from the centre is the angle to the axis. On the axis the angle's quotient tends to 1.
ImagePoint fisheye(const Cameras& k, const Vector& p) {
  constexpr double eps = 1e-7;
  const auto [x, y, z] = p;
  const Value square = x * x + y * y;
  const Value off_axis = less(ops::zeros_like(square), square);
  const Value r = kept(off_axis, ops::sqrt(kept(off_axis, square, 1)), 0) + eps;
  const Value quotient = ops::atan2(r, z + eps) / r;
  const Value xx = x * x + eps, yy = y * y, xy = x * y, r2 = xx + yy, r3 = r2 + z * z, root = ops::sqrt(r2);
  const Value a = z / r3 / r2, b = ops::atan2(root, z) / root / r2;
  return {k.fx * (x * quotient) + k.cx,
          k.fy * (y * quotient) + k.cy,
          {k.fx * (xx * a + yy * b), k.fx * (xy * (a - b)), ops::neg(k.fx * (x / r3))},
          {k.fy * (xy * (a - b)), k.fy * (yy * a + xx * b), ops::neg(k.fy * (y / r3))}};
}

ImagePoint image_of(const Cameras& k, const Vector& p, const A& a) {
  switch (a.camera) {
    case CameraModel::pinhole:
      return pinhole(k, p, a);
    case CameraModel::ortho:
      return orthographic(k, p);
    case CameraModel::fisheye:
      return fisheye(k, p);
  }
  throw InternalError("splat.project: unknown camera model");
}

/// A row of the Jacobian times the rotation of the camera.
Vector rotated(const Vector& row, const std::array<Vector, 3>& rotation) {
  Vector out;
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 0; i < 3; ++i) {
      if (!row[i]) continue;
      const Value term = row[i] * rotation[i][j];
      out[j] = out[j] ? out[j] + term : term;
    }
  return out;
}

Vector times(const std::array<Value, 6>& s, const Vector& t) {
  return {s[0] * t[0] + s[1] * t[1] + s[2] * t[2], s[1] * t[0] + s[3] * t[1] + s[4] * t[2],
          s[2] * t[0] + s[4] * t[1] + s[5] * t[2]};
}

}  // namespace

// All values are [c, n] or broadcast to it. What is culled is computed with a harmless Gaussian in its place: its
// gradient is then 0 times finite numbers, and nothing of it reaches the cameras.
Values project_decompose(Builder&, const A& a, ValuesIn in) {
  const Cameras k = cameras_of(in[2], in[3]);
  const Gaussians g = gaussians_of(in[0], in[1]);
  const double limit = square_limit(in[0].dtype());
  Vector p;
  for (std::size_t i = 0; i < 3; ++i) p[i] = dot(k.rotation[i], g.mean) + k.translation[i];
  const Value ahead =
      all({ops::logical_and(k.sees, g.usable), bounded(p[0], limit), bounded(p[1], limit),
           less_equal(constant_like(p[2], a.near), p[2]), less_equal(p[2], constant_like(p[2], a.far))});
  for (std::size_t i = 0; i < 3; ++i) p[i] = kept(ahead, p[i], i < 2 ? 0 : 1);

  const ImagePoint at = image_of(k, p, a);
  const Vector t = rotated(at.du, k.rotation), s = rotated(at.dv, k.rotation);
  const Vector st = times(g.covariance, t), ss = times(g.covariance, s);
  const Value xx = dot(t, st), xy = dot(t, ss), yy = dot(s, ss);
  const Value blurred_xx = xx + a.blur, blurred_yy = yy + a.blur;
  const Value det = blurred_xx * blurred_yy - xy * xy;

  const auto radius = [](Value variance) { return ops::ceil(3.33 * ops::sqrt(ops::stop_gradient(variance))); };
  const Value rx = radius(blurred_xx), ry = radius(blurred_yy), zero = ops::zeros_like(rx);
  const auto reaches = [&](Value centre, Value r, std::int64_t size) {
    return ops::logical_and(less(zero, centre + r), less(centre - r, constant_like(r, static_cast<double>(size))));
  };
  const Value clip = constant_like(rx, a.radius_clip);
  const Value visible =
      all({ahead, less(ops::zeros_like(det), det), bounded(det, limit * limit), reaches(at.u, rx, a.width),
           reaches(at.v, ry, a.height), ops::logical_or(less(clip, rx), less(clip, ry))});

  // The determinants before and after the blur differ by what it adds. Of the quotient of both, the derivative is the
  // difference of nearly equal terms where little is added, that of 1 less the added share where nearly all is.
  const Value safe = kept(visible, det, 1), before = kept(visible, xx * yy - xy * xy, 0);
  const Value added = kept(visible, a.blur * (blurred_xx + yy), 0);
  const Value quotient = ops::select(less(before, added), before / safe, 1.0 - added / safe);
  const Value flat = less_equal(before, ops::zeros_like(before));
  const Value compensation =
      ops::select(flat, ops::zeros_like(before), ops::sqrt(kept(ops::logical_not(flat), quotient, 1)));
  const auto seen = [&](Value x) { return kept(visible, x, 0); };
  return {ops::convert(stacked(Values{seen(rx), seen(ry)}), DType::i32), stacked(Values{seen(at.u), seen(at.v)}),
          seen(p[2]), stacked(Values{seen(blurred_yy / safe), seen(ops::neg(xy) / safe), seen(blurred_xx / safe)}),
          compensation};
}

}  // namespace rlx::splat
