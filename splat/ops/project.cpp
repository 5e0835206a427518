#include "splat/ops/projecting.hpp"

#include <cmath>

namespace rlx::splat {

using A = ProjectAttrs;
constexpr Operand project_operands[] = {{"means", reals}, {"covars", reals}, {"views", reals}, {"intrinsics", reals}};
constexpr Constraint<A> project_constraints[] = {
    {"C1", "all have one dtype", [](const A&, const Signature& s) { return one_dtype(s, 0, 3); }},
    {"C2", "means is [n, 3]", project_means},
    {"C3", "covars is [n, 3, 3]", project_covars},
    {"C4", "views is [c, 4, 4]", project_views},
    {"C5", "intrinsics is [c, 3, 3]", project_intrinsics},
    {"C6", "width and height are from 1 to 2^24", project_size},
    {"C7", "near < far, and near > 0 unless the camera is orthographic", project_depths},
    {"C8", "radius_clip >= 0 and blur >= 0, both finite", project_filters}};

Types project_infer(const A&, const Signature& s) {
  const Dim c = s.shape(2)[0], n = s.shape(0)[0];
  const DType t = s.dtype(0);
  return {i32({c, n, 2}), tensor(t, {c, n, 2}), tensor(t, {c, n}), tensor(t, {c, n, 3}), tensor(t, {c, n})};
}

// An operator of its own, so that a device may bring a kernel for it; but for intrinsics, whose gradient is rarely
// wanted.
static Values project_vjp(const VjpCall<A>& c) {
  if (c.wanted[3])
    return pulled_back(c.b, c.in, c.cotangent, c.wanted,
                       [&](Builder& inner, ValuesIn x) { return project_decompose(inner, c.attrs, x); });
  Values operands(c.in.begin(), c.in.end());
  for (std::size_t k = 1; k < c.out.size(); ++k)  // Radii have none.
    operands.push_back(c.cotangent[k] ? c.cotangent[k] : ops::zeros_like(c.out[k]));
  Values g = c.b.emit("splat.project_gradient", operands, c.attrs);
  g.emplace_back();
  for (std::size_t i = 0; i < 3; ++i)
    if (!c.wanted[i]) g[i] = {};
  return g;
}

static ShardRule project_shard(const A&, const Signature&) {
  ShardRule r;
  r.factors.resize(2);  // cameras, Gaussians
  r.operands = {{1, -1}, {1, -1, -1}, {0, -1, -1}, {0, -1, -1}};
  r.results = {{0, 1, -1}, {0, 1, -1}, {0, 1}, {0, 1, -1}, {0, 1}};
  return r;
}

extern const OpDef<A> project_op{
    .name = "splat.project",
    .doc =
        "Gaussians in the images of cameras: radii, means, depths, inverse covariances and the factors that make up "
        "for the "
        "blur. The covariance goes through the Jacobian of the camera at the mean, `blur` is added to both its "
        "variances, radii "
        "are 3.33 standard deviations. Culled, and 0 in all results, is what lies before near or beyond far, whose box "
        "misses the image, whose radii are within radius_clip, whose determinant is not positive, or that has an entry "
        "that is NaN "
        "or beyond 1e18 (f64: 1e153); a camera with such an entry, or a focal length below the inverse of that, is "
        "singular and sees "
        "nothing. Of covars the "
        "upper triangle is read, of intrinsics fx, fy, cx and cy. Source: M. Zwicker et al., EWA volume splatting, "
        "IEEE "
        "Visualization (2001).",
    .operands = project_operands,
    .constraints = project_constraints,
    .infer = project_infer,
    .meaning = Composite<A>{project_decompose},
    .vjp = Vjp<A>{project_vjp},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = project_shard,
    .cost =
        [](const A& a, const Signature& s) {
          return cost_of(s, project_infer(a, s),
                         s.shape(2)[0] * s.shape(0)[0] * (a.camera == CameraModel::fisheye ? 180 : 110));
        },
    .samples = []() -> std::vector<Sample<A>> {
      const auto wide = project_sample(DType::f64), narrow = project_sample(DType::f32);
      const auto with = [](CameraModel m) { return A{.width = 32, .height = 24, .camera = m}; };
      // On the axis at distance 2: u, v at the centre, variances 4 f^2 s^2 / 16; then behind, and outside.
      const SampleOperand identity{f64({1, 4, 4}), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
          lens{f64({1, 3, 3}), {8, 0, 16, 0, 8, 12, 0, 0, 1}};
      const SampleOperand places{f64({4, 3}), {0, 0, 2, 0, 0, -2, 100, 0, 2, NAN, 0, 2}};
      const SampleOperand balls{f64({4, 3, 3}), {1, 0, 0, 0, 4, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1,
                                                 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}};
      const A plain{.width = 32, .height = 24, .blur = 1};
      const std::vector<double> radii{14, 27, 0, 0, 0, 0, 0, 0}, points{16, 12, 0, 0, 0, 0, 0, 0}, depths{2, 0, 0, 0},
          conics{1.0 / 17, 0, 1.0 / 65, 0, 0, 0, 0, 0, 0, 0, 0, 0}, factors{std::sqrt(1024.0 / 1105), 0, 0, 0};
      const auto broken = [&](std::size_t at, SampleOperand operand, std::string_view id) {
        auto in = wide;
        in[at] = std::move(operand);
        return sample<A>(std::move(in)).breaking(id);
      };
      const auto bad = [&](A a, std::string_view id) { return sample<A>(wide, a).breaking(id); };
      return {sample<A>(wide, with(CameraModel::pinhole)).within(1e-12),
              sample<A>(wide, with(CameraModel::ortho)).within(1e-12),
              sample<A>(wide, with(CameraModel::fisheye)).within(1e-12),
              sample<A>(narrow, with(CameraModel::pinhole)).within(1e-5),
              sample<A>(narrow, with(CameraModel::ortho)).within(1e-5),
              sample<A>(narrow, with(CameraModel::fisheye)).within(1e-5),
              sample<A>({places, balls, identity, lens}, plain)
                  .expects({radii, points, depths, conics, factors})
                  .without_gradients(),
              sample<A>({f64({0, 3}), f64({0, 3, 3}), wide[2], wide[3]}, with(CameraModel::pinhole)),
              broken(0, f32({3, 3}), "C1"),
              broken(0, f64({3, 2}), "C2"),
              broken(1, f64({2, 3, 3}), "C3"),
              broken(2, f64({2, 3, 4}), "C4"),
              broken(3, f64({1, 3, 3}), "C5"),
              bad({.width = 0, .height = 24}, "C6"),
              bad({.near = 2, .far = 1}, "C7"),
              bad({.near = 0}, "C7"),
              bad({.radius_clip = -1}, "C8"),
              bad({.blur = INFINITY}, "C8")};
    }};

}  // namespace rlx::splat
