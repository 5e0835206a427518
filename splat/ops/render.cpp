#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/splat/render.hpp>

#include "splat/ops/projecting.hpp"

#include <cmath>

namespace rlx::splat {

using A = RenderAttrs;
enum : std::size_t { means_at, quats_at, scales_at, opacities_at, sh_at, views_at, intrinsics_at, backgrounds_at };
constexpr Operand render_operands[] = {{"means", reals},      {"quats", reals},      {"scales", reals},
                                       {"opacities", reals},  {"sh", reals},         {"views", reals},
                                       {"intrinsics", reals}, {"backgrounds", reals}};
constexpr Constraint<A> render_constraints[] = {
    {"C1", "all have one dtype", [](const A&, const Signature& s) { return one_dtype(s, means_at, backgrounds_at); }},
    {"C2", "means is [n, 3], quats [n, 4], scales [n, 3] and opacities [n]",
     [](const A&, const Signature& s) -> Answer {
       if (s.rank(means_at) != 2) return Answer::no("rank " + std::to_string(s.rank(means_at)));
       const Dim n = s.shape(means_at)[0];
       return has_shape(s, means_at, {n, 3}) && has_shape(s, quats_at, {n, 4}) && has_shape(s, scales_at, {n, 3}) &&
              has_shape(s, opacities_at, {n});
     }},
    {"C3", "degree is from 0 to 4, and sh is [n, k, 3] with k >= (degree + 1)^2",
     [](const A& a, const Signature& s) -> Answer {
       if (a.degree < 0 || a.degree > 4) return Answer::no("degree " + std::to_string(a.degree));
       if (s.rank(sh_at) != 3) return Answer::no("rank " + std::to_string(s.rank(sh_at)));
       const Dim k = s.shape(sh_at)[1];
       return has_shape(s, sh_at, {s.shape(means_at)[0], k, 3}) && s.less_equal((a.degree + 1) * (a.degree + 1), k);
     }},
    {"C4", "views is [c, 4, 4], intrinsics [c, 3, 3] and backgrounds [c, 3]",
     [](const A&, const Signature& s) -> Answer {
       if (s.rank(views_at) != 3) return Answer::no("rank " + std::to_string(s.rank(views_at)));
       const Dim c = s.shape(views_at)[0];
       return has_shape(s, views_at, {c, 4, 4}) && has_shape(s, intrinsics_at, {c, 3, 3}) &&
              has_shape(s, backgrounds_at, {c, 3});
     }},
    {"C5", "width and height are from 1 to 2^24, tile from 1 to 64, entries from 0 to 2^31 - 1",
     [](const A& a, const Signature& s) -> Answer {
       return project_size(a.project, s) && a.tile >= 1 && a.tile <= 64 && a.entries >= 0 && a.entries <= INT32_MAX;
     }},
    {"C6", "near < far, and near > 0 unless the camera is orthographic",
     [](const A& a, const Signature& s) { return project_depths(a.project, s); }},
    {"C7", "radius_clip >= 0 and blur >= 0, both finite",
     [](const A& a, const Signature& s) { return project_filters(a.project, s); }}};

static Types render_infer(const A& a, const Signature& s) {
  const Dim c = s.shape(views_at)[0];
  const DType t = s.dtype(means_at);
  return {tensor(t, {c, a.project.height, a.project.width, a.channels == Channels::rgb ? 3 : 4}),
          tensor(t, {c, a.project.height, a.project.width})};
}

static Values render_decompose(Builder&, const A& a, ValuesIn in) {
  const RenderOptions options{.project = a.project,
                              .degree = a.degree,
                              .mode = a.mode,
                              .channels = a.channels,
                              .tile = a.tile,
                              .entries = a.entries};
  const Rendered r = render({in[means_at], in[quats_at], in[scales_at], in[opacities_at], in[sh_at]},
                            {in[views_at], in[intrinsics_at], in[backgrounds_at]}, options);
  return {r.image, r.alpha};
}

/// Three Gaussians that reach over every pixel of two images, so that no threshold is near.
static std::vector<SampleOperand> wide_scene(DType t) {
  const std::vector<double> views{1,   0, 0,   0.1, 0, 1, 0, -0.2, 0,    0, 1,   4, 0, 0, 0, 1,
                                  0.8, 0, 0.6, 0,   0, 1, 0, 0,    -0.6, 0, 0.8, 5, 0, 0, 0, 1};
  const std::vector<double> intrinsics{4, 0, 3.5, 0, 4.5, 2.5, 0, 0, 1, 5, 0, 3.2, 0, 4, 2.6, 0, 0, 1};
  return {{tensor(t, {3, 3}), Fill::uniform, -0.5, 0.5},
          {tensor(t, {3, 4}), Fill::uniform, 0.2, 1},
          {tensor(t, {3, 3}), Fill::uniform, 4, 6},
          {tensor(t, {3}), Fill::uniform, 0.3, 0.9},
          {tensor(t, {3, 4, 3}), Fill::uniform, -0.1, 0.1},
          {tensor(t, {2, 4, 4}), views},
          {tensor(t, {2, 3, 3}), intrinsics},
          tensor(t, {2, 3})};
}

/// One pixel, on whose axis two round Gaussians lie, at 2 and 4, of opacity 1/2 and colours 1 and 2.
static std::vector<SampleOperand> axis_scene() {
  constexpr double band = formats::sh_constant;
  return {{f64({2, 3}), {0, 0, 4, 0, 0, 2}},
          {f64({2, 4}), {1, 0, 0, 0, 1, 0, 0, 0}},
          {f64({2, 3}), {1, 1, 1, 0.5, 0.5, 0.5}},
          {f64({2}), {0.5, 0.5}},
          {f64({2, 1, 3}), {1.5 / band, 1.5 / band, 1.5 / band, 0.5 / band, 0.5 / band, 0.5 / band}},
          {f64({1, 4, 4}), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
          {f64({1, 3, 3}), {2, 0, 0.5, 0, 2, 0.5, 0, 0, 1}},
          {f64({1, 3}), {4, 4, 4}}};
}

extern const OpDef<A> render_op{
    .name = "splat.render",
    .doc =
        "Images of Gaussians for cameras, and their alpha: quat_scale_to_cov, project, sh_color along the directions "
        "from the cameras, tile_boxes, tile_bin and rasterize. Antialiased, opacities are multiplied by the "
        "compensation of project. The fourth channel, over a background of 0, is the sum of depths weighted as colours "
        "are, or that over the sum of the weights. More entries of the tiles' lists than there is room for are a "
        "NumericalError.",
    .operands = render_operands,
    .constraints = render_constraints,
    .infer = render_infer,
    .meaning = Composite<A>{render_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = Never{"the lists of all tiles lie in one vector"},
    .cost =
        [](const A& a, const Signature& s) {
          const Dim pairs = Dim(a.entries) * (a.tile * a.tile), seen = s.shape(views_at)[0] * s.shape(means_at)[0];
          return cost_of(s, render_infer(a, s), pairs * 26 + seen * (150 + 8 * (a.degree + 1) * (a.degree + 1)));
        },
    .samples = []() -> std::vector<Sample<A>> {
      const A small{.project = {.width = 7, .height = 5}, .degree = 1, .tile = 4, .entries = 24};
      A smooth = small, expected = small;
      smooth.mode = RenderMode::antialiased, smooth.channels = Channels::depth;
      expected.channels = Channels::expected_depth;
      A one{.degree = 0, .tile = 1, .entries = 2}, deep = one;
      deep.channels = Channels::expected_depth;
      const auto with = [&](void (*change)(A&)) {
        A a = small;
        change(a);
        return a;
      };
      const auto broken = [&](std::size_t at, SampleOperand operand, std::string_view id) {
        auto in = wide_scene(DType::f64);
        in[at] = std::move(operand);
        return sample<A>(std::move(in), small).breaking(id);
      };
      const auto bad = [&](void (*change)(A&), std::string_view id) {
        return sample<A>(wide_scene(DType::f64), with(change)).breaking(id);
      };
      return {sample<A>(wide_scene(DType::f64), smooth).within(1e-12),
              sample<A>(wide_scene(DType::f32), expected).within(1e-5),
              // 1/2 of 1, 1/4 of 2, 1/4 of the background; depth (2/2 + 4/4) / (3/4).
              sample<A>(axis_scene(), one).expects({{2, 2, 2}, {0.75}}).within(1e-12).without_gradients(),
              sample<A>(axis_scene(), deep).expects({{2, 2, 2, 8.0 / 3}, {0.75}}).within(1e-12).without_gradients(),
              broken(quats_at, f32({3, 4}), "C1"), broken(scales_at, f64({3}), "C2"),
              broken(sh_at, f64({3, 3, 3}), "C3"), bad([](A& a) { a.degree = 5; }, "C3"),
              broken(intrinsics_at, f64({1, 3, 3}), "C4"), bad([](A& a) { a.tile = 65; }, "C5"),
              bad([](A& a) { a.entries = -1; }, "C5"), bad([](A& a) { a.project.near = 0; }, "C6"),
              bad([](A& a) { a.project.blur = INFINITY; }, "C7")};
    }};

}  // namespace rlx::splat
