// The body of project for one instruction level; RLX_PROJECT_KERNELS names what it defines, RLX_LANES is the width. The
// formulas are those of splat/ops/project.cpp, whose comments hold here. The gradient goes back through them by hand,
// but for the point in the image and its Jacobian, which are computed with their derivatives by the point in space.
#include "derivatives.hpp"
#include "project_arrays.hpp"

namespace rlx::splat::cpu {
namespace {

using PerLane = float[lanes];

inline Floats value(Real a) { return a.v; }
inline Floats value(const Dual& a) { return a.v; }
inline void set(Real& a, Floats v) { a = {v}; }
inline void set(Dual& a, Floats v) { a = {v, Floats{}, Floats{}, Floats{}}; }
inline Real reciprocal(Real a) { return {1.0f / a.v}; }
inline Dual reciprocal(const Dual& a) {
  const Floats r = 1.0f / a.v, slope = -r * r;
  return {r, slope * a.x, slope * a.y, slope * a.z};
}
inline Real clamped(float low, Real a, float high) { return {smaller(larger(all(low), a.v), all(high))}; }
inline Dual clamped(float low, const Dual& a, float high) {
  const Mask inside = both(at_most(all(low), a.v), at_most(a.v, all(high)));
  return {smaller(larger(all(low), a.v), all(high)), keep(inside, a.x), keep(inside, a.y), keep(inside, a.z)};
}
inline Mask bounded(Floats x, float limit) { return at_most(magnitude(x), all(limit)); }
inline Floats rounded_up(Floats x) {
  const Floats whole = as_floats(truncated(x));
  const Floats up = whole + keep(less(whole, x), all(1.0f));
  return choose(less(x, all(8388608.0f)), up, x);  // From 2^23 on there are only whole numbers.
}

/// [count, width] from or to one vector a column.
template <int width>
void gather(const float* from, std::int64_t count, Floats* to) {
  PerLane part[width]{};
  for (std::int64_t i = 0; i < count; ++i)
    for (int k = 0; k < width; ++k) part[k][i] = from[width * i + k];
  for (int k = 0; k < width; ++k) to[k] = load(part[k]);
}
template <int width>
void scatter(const Floats* from, std::int64_t count, float* to, bool add = false) {
  PerLane part[width];
  for (int k = 0; k < width; ++k) store(part[k], from[k]);
  for (std::int64_t i = 0; i < count; ++i)
    for (int k = 0; k < width; ++k) to[width * i + k] = add ? to[width * i + k] + part[k][i] : part[k][i];
}

/// As many Gaussians as there are lanes; one with an entry that is no number or beyond the limit is all zeros.
struct Gaussians {
  Mask usable;
  Floats mean[3], covariance[6];  // xx, xy, xz, yy, yz, zz
  Gaussians(const ProjectArrays& a, std::int64_t first, std::int64_t count) {
    Floats matrix[9];
    gather<3>(a.means + 3 * first, count, mean);
    gather<9>(a.covars + 9 * first, count, matrix);
    usable = less(lane_numbers(), all(static_cast<float>(count)));
    constexpr int upper[6] = {0, 1, 2, 4, 5, 8};
    for (int k = 0; k < 6; ++k) covariance[k] = matrix[upper[k]];
    for (const Floats& x : mean) usable = both(usable, bounded(x, a.limit));
    for (const Floats& x : covariance) usable = both(usable, bounded(x, a.limit));
    for (Floats& x : mean) x = keep(usable, x);
    for (Floats& x : covariance) x = keep(usable, x);
  }
};

/// Where a point is along one axis of the image, and what the row of the Jacobian has for that axis and for z.
template <class N>
struct Axis {
  N at, across, along;
  Axis(const ProjectArrays& a, const N& x, const N& z, float f, float c, float size) {
    if (a.orthographic) {
      at = f * x + c;
      set(across, all(f)), set(along, Floats{});
      return;
    }
    const N inverse = reciprocal(z), quotient = x * inverse;
    const float margin = 0.15f * size / f;
    at = f * quotient + c;
    across = f * inverse;
    along = -f * (clamped(-(c / f) - margin, quotient, (size - c) / f + margin) * inverse);
  }
};

inline Floats dot(const Floats* a, const Floats* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
/// A symmetric matrix times a vector.
inline void times(const Floats* s, const Floats* t, Floats* out) {
  out[0] = s[0] * t[0] + s[1] * t[1] + s[2] * t[2];
  out[1] = s[1] * t[0] + s[3] * t[1] + s[4] * t[2];
  out[2] = s[2] * t[0] + s[4] * t[1] + s[5] * t[2];
}

/// Means in the frame of a camera; what is not ahead of it is at (0, 0, 1).
struct CameraPoint {
  Mask ahead;
  Floats p[3];
  CameraPoint(const ProjectArrays& a, const ProjectCamera& k, const Gaussians& g) {
    for (int i = 0; i < 3; ++i)
      p[i] = k.rotation[3 * i] * g.mean[0] + k.rotation[3 * i + 1] * g.mean[1] + k.rotation[3 * i + 2] * g.mean[2] +
             k.translation[i];
    ahead = both(both(g.usable, both(bounded(p[0], a.limit), bounded(p[1], a.limit))),
                 both(at_most(all(a.near), p[2]), at_most(p[2], all(a.far))));
    for (int i = 0; i < 3; ++i) p[i] = choose(ahead, p[i], all(i == 2 ? 1.0f : 0.0f));
  }
  /// One of them as a number, whose own derivative is 1.
  template <class N>
  N coordinate(int axis) const {
    N out;
    set(out, p[axis]);
    if constexpr (requires { out.x; }) (axis == 0 ? out.x : axis == 1 ? out.y : out.z) = all(1.0f);
    return out;
  }
};

/// Gaussians in the image of a camera, and what leads there.
template <class N>
struct Seen {
  Mask visible;
  Floats depth;
  Axis<N> u, v;
  Floats t[3], s[3];                                   // The rows of the Jacobian times the rotation,
  Floats st[3], ss[3];                                 // and the covariance times them.
  Floats sharp_xx, sharp_yy, xx, xy, yy, det, rx, ry;  // sharp: before the blur.

  Seen(const ProjectArrays& a, const ProjectCamera& k, const Gaussians& g) : Seen(a, k, g, CameraPoint(a, k, g)) {}
  Seen(const ProjectArrays& a, const ProjectCamera& k, const Gaussians& g, const CameraPoint& at)
      : depth(at.p[2]),
        u(a, at.coordinate<N>(0), at.coordinate<N>(2), k.fx, k.cx, a.width),
        v(a, at.coordinate<N>(1), at.coordinate<N>(2), k.fy, k.cy, a.height) {
    for (int j = 0; j < 3; ++j) {
      t[j] = value(u.across) * k.rotation[j] + value(u.along) * k.rotation[6 + j];
      s[j] = value(v.across) * k.rotation[3 + j] + value(v.along) * k.rotation[6 + j];
    }
    times(g.covariance, t, st), times(g.covariance, s, ss);
    sharp_xx = dot(t, st), xy = dot(t, ss), sharp_yy = dot(s, ss);
    xx = sharp_xx + a.blur, yy = sharp_yy + a.blur;
    det = xx * yy - xy * xy;
    rx = rounded_up(3.33f * root(xx)), ry = rounded_up(3.33f * root(yy));
    const auto reaches = [](Floats centre, Floats r, float size) {
      return both(less(Floats{}, centre + r), less(centre - r, all(size)));
    };
    visible = both(both(at.ahead, both(less(Floats{}, det), bounded(det, a.limit * a.limit))),
                   both(both(reaches(value(u.at), rx, a.width), reaches(value(v.at), ry, a.height)),
                        less(all(a.clip), larger(rx, ry))));
    det = choose(visible, det, all(1.0f));
  }
  /// The determinant before the blur.
  Floats sharp_det() const { return keep(visible, sharp_xx * sharp_yy - xy * xy); }
};

void forward(const ProjectArrays& a, std::int64_t begin, std::int64_t end, const ProjectResults& r) {
  for (std::int64_t first = begin; first < end; first += lanes) {
    const std::int64_t count = end - first < lanes ? end - first : lanes;
    const Gaussians g(a, first, count);
    for (std::int64_t view = 0; view < a.views; ++view) {
      const Seen<Real> p(a, a.cameras[view], g);
      const std::int64_t at = a.images[view] * a.n + first;
      const Floats inverse = 1.0f / p.det, sharp = p.sharp_det();
      const auto seen = [&](Floats x) { return keep(p.visible, x); };
      const Floats means[2] = {seen(p.u.at.v), seen(p.v.at.v)}, depths[1] = {seen(p.depth)};
      const Floats conics[3] = {seen(p.yy * inverse), seen(-p.xy * inverse), seen(p.xx * inverse)};
      const Floats compensations[1] = {root(keep(less(Floats{}, sharp), sharp * inverse))};
      scatter<2>(means, count, r.means + 2 * at);
      scatter<1>(depths, count, r.depths + at);
      scatter<3>(conics, count, r.conics + 3 * at);
      scatter<1>(compensations, count, r.compensations + at);
      std::int32_t radii[2][lanes];
      const Floats most = all(2147483648.0f);
      store(radii[0], choose(less(seen(p.rx), most), truncated(seen(p.rx)), all(std::int32_t{2147483647})));
      store(radii[1], choose(less(seen(p.ry), most), truncated(seen(p.ry)), all(std::int32_t{2147483647})));
      for (std::int64_t i = 0; i < count; ++i)
        for (int k = 0; k < 2; ++k) r.radii[2 * (at + i) + k] = radii[k][i];
    }
  }
}

/// Gradients by the mean, by the covariance's upper triangle and by the view's entries.
struct Pulled {
  Floats mean[3], covariance[6], view[view_entries];
  Pulled(float blur, const ProjectCamera& k, const Gaussians& g, const Seen<Dual>& p, const Floats* to_means,
         Floats to_depth, const Floats* to_conic, Floats to_compensation) {
    const Floats inverse = 1.0f / p.det, sharp = p.sharp_det();
    // By the variances after the blur: the derivative of an inverse is -K dM K.
    const Floats kx = p.yy * inverse, kxy = -p.xy * inverse, ky = p.xx * inverse;
    Floats to_xx = -(to_conic[0] * kx * kx + to_conic[1] * kx * kxy + to_conic[2] * kxy * kxy);
    Floats to_yy = -(to_conic[0] * kxy * kxy + to_conic[1] * kxy * ky + to_conic[2] * ky * ky);
    Floats to_xy =
        -(2.0f * to_conic[0] * kx * kxy + to_conic[1] * (kx * ky + kxy * kxy) + 2.0f * to_conic[2] * kxy * ky);
    // By the factor, the root of the quotient of the determinants before and after. Written out, the blur stands before
    // sums of one sign, where the difference of the two logarithms' derivatives would be next to nothing.
    const Mask some = less(Floats{}, sharp);
    const Floats per = keep(some, 1.0f / choose(some, sharp, all(1.0f)));
    const Floats half = 0.5f * blur * to_compensation * inverse * root(keep(some, sharp * inverse));
    to_xx += half * (p.sharp_yy * per * p.yy + p.xy * per * p.xy);
    to_yy += half * (p.sharp_xx * per * p.xx + p.xy * per * p.xy);
    to_xy -= 2.0f * half * (p.xy * per) * (p.xx + p.yy - blur);
    constexpr int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int e = 0; e < 6; ++e) {
      const int i = row[e], j = column[e];
      Floats sum = to_xx * p.t[i] * p.t[j] + to_yy * p.s[i] * p.s[j];
      if (i != j) sum += sum + to_xy * (p.t[i] * p.s[j] + p.t[j] * p.s[i]);
      else sum += to_xy * p.t[i] * p.s[i];
      covariance[e] = keep(p.visible, sum);
    }
    Floats to_t[3], to_s[3], to_u[3]{}, to_v[3]{};  // The last two by the rows of the Jacobian.
    for (int j = 0; j < 3; ++j) {
      to_t[j] = 2.0f * to_xx * p.st[j] + to_xy * p.ss[j];
      to_s[j] = 2.0f * to_yy * p.ss[j] + to_xy * p.st[j];
      for (int i = 0; i < 3; ++i) {
        to_u[i] += to_t[j] * k.rotation[3 * i + j];
        to_v[i] += to_s[j] * k.rotation[3 * i + j];
      }
    }
    const Dual* const made[6] = {&p.u.at, &p.v.at, &p.u.across, &p.u.along, &p.v.across, &p.v.along};
    const Floats to[6] = {to_means[0], to_means[1], to_u[0], to_u[2], to_v[1], to_v[2]};
    Floats point[3] = {Floats{}, Floats{}, to_depth};
    for (int e = 0; e < 6; ++e) {
      point[0] = fma(to[e], made[e]->x, point[0]);
      point[1] = fma(to[e], made[e]->y, point[1]);
      point[2] = fma(to[e], made[e]->z, point[2]);
    }
    for (int j = 0; j < 3; ++j) {
      Floats sum{};
      for (int i = 0; i < 3; ++i) sum += k.rotation[3 * i + j] * point[i];
      mean[j] = keep(p.visible, sum);
      const Floats rotation[3] = {p.u.across.v * to_t[j], p.v.across.v * to_s[j],
                                  p.u.along.v * to_t[j] + p.v.along.v * to_s[j]};
      for (int i = 0; i < 3; ++i) view[4 * i + j] = keep(p.visible, point[i] * g.mean[j] + rotation[i]);
    }
    for (int i = 0; i < 3; ++i) view[4 * i + 3] = keep(p.visible, point[i]);
  }
};

void gradient(const ProjectArrays& a, const ProjectCotangents& c, std::int64_t begin, std::int64_t end,
              const ProjectGradients& out, float* views) {
  if (a.views == 0) {
    for (std::int64_t i = 3 * begin; i < 3 * end; ++i) out.means[i] = 0;
    for (std::int64_t i = 9 * begin; i < 9 * end; ++i) out.covars[i] = 0;
  }
  for (std::int64_t view = 0; view < a.views; ++view) {
    Floats sums[view_entries]{};
    for (std::int64_t first = begin; first < end; first += lanes) {
      const std::int64_t count = end - first < lanes ? end - first : lanes;
      const Gaussians g(a, first, count);
      const Seen<Dual> p(a, a.cameras[view], g);
      const std::int64_t at = a.images[view] * a.n + first;
      Floats means[2], depths[1], conics[3], compensations[1];
      gather<2>(c.means + 2 * at, count, means);
      gather<1>(c.depths + at, count, depths);
      gather<3>(c.conics + 3 * at, count, conics);
      gather<1>(c.compensations + at, count, compensations);
      const Pulled q(a.blur, a.cameras[view], g, p, means, depths[0], conics, compensations[0]);
      const Floats none{},
          matrix[9] = {
              q.covariance[0], q.covariance[1], q.covariance[2], none, q.covariance[3], q.covariance[4], none, none,
              q.covariance[5]};
      scatter<3>(q.mean, count, out.means + 3 * first, view > 0);
      scatter<9>(matrix, count, out.covars + 9 * first, view > 0);
      for (int e = 0; e < view_entries; ++e) sums[e] += q.view[e];
    }
    for (int e = 0; e < view_entries; ++e) views[view * view_entries + e] = sum(sums[e]);
  }
}

}  // namespace

extern const ProjectKernels RLX_PROJECT_KERNELS{forward, gradient};

}  // namespace rlx::splat::cpu
