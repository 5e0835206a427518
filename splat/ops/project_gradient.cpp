#include "splat/ops/projecting.hpp"

#include <cmath>

namespace rlx::splat {

using A = ProjectAttrs;
enum : std::size_t { first_cotangent = 4, operand_count = 8 };
constexpr Operand gradient_operands[] = {{"means", reals},
                                         {"covars", reals},
                                         {"views", reals},
                                         {"intrinsics", reals},
                                         {"cotangent_means", reals},
                                         {"cotangent_depths", reals},
                                         {"cotangent_conics", reals},
                                         {"cotangent_compensations", reals}};
constexpr Constraint<A> gradient_constraints[] = {
    {"C1", "all have one dtype", [](const A&, const Signature& s) { return one_dtype(s, 0, operand_count - 1); }},
    {"C2", "means is [n, 3]", project_means},
    {"C3", "covars is [n, 3, 3]", project_covars},
    {"C4", "views is [c, 4, 4]", project_views},
    {"C5", "intrinsics is [c, 3, 3]", project_intrinsics},
    {"C6", "width and height are from 1 to 2^24", project_size},
    {"C7", "near < far, and near > 0 unless the camera is orthographic", project_depths},
    {"C8", "radius_clip >= 0 and blur >= 0, both finite", project_filters},
    {"C9", "the cotangents are like the results of project, but for its radii", [](const A& a, const Signature& s) {
       const Types results = project_infer(a, s);
       Answer like = true;
       for (std::size_t k = 1; k < results.size(); ++k)
         like = std::move(like) && has_shape(s, first_cotangent + k - 1, std::get<TensorType>(results[k]).shape);
       return like;
     }}};

static Types gradient_infer(const A&, const Signature& s) { return {s.tensor(0), s.tensor(1), s.tensor(2)}; }

static Values gradient_decompose(Builder& b, const A& a, ValuesIn in) {
  Values cotangents{Value{}};
  cotangents.insert(cotangents.end(), in.begin() + first_cotangent, in.end());
  Values out = pulled_back(b, in.first(first_cotangent), cotangents, {true, true, true, false},
                           [&](Builder& inner, ValuesIn x) { return project_decompose(inner, a, x); });
  out.pop_back();
  return out;
}

// Every result is summed over the cameras or over the Gaussians.
static ShardRule gradient_shard(const A&, const Signature&) {
  ShardRule r;
  r.operands = {{-1, -1}, {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}, {-1, -1}, {-1, -1, -1}, {-1, -1}};
  r.results = {{-1, -1}, {-1, -1, -1}, {-1, -1, -1}};
  return r;
}

extern const OpDef<A> project_gradient_op{
    .name = "splat.project_gradient",
    .doc =
        "Gradients of splat.project to means, covars, of which the lower triangle gets none, and views, from the "
        "cotangents of its real results. What project culls, and a camera that sees nothing, gets and gives none.",
    .operands = gradient_operands,
    .constraints = gradient_constraints,
    .infer = gradient_infer,
    .meaning = Composite<A>{gradient_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = gradient_shard,
    .cost =
        [](const A& a, const Signature& s) {
          return cost_of(s, gradient_infer(a, s),
                         s.shape(2)[0] * s.shape(0)[0] * (a.camera == CameraModel::fisheye ? 600 : 350));
        },
    .samples = []() -> std::vector<Sample<A>> {
      const auto scene = [](DType t) {
        std::vector<SampleOperand> in = project_sample(t);
        in.insert(in.end(), {tensor(t, {2, 3, 2}), tensor(t, {2, 3}), tensor(t, {2, 3, 3}), tensor(t, {2, 3})});
        return in;
      };
      const auto with = [](CameraModel m) { return A{.width = 32, .height = 24, .camera = m}; };
      // Orthographic, 2 pixels a unit: variances 4 and 16, blurred 5 and 17, conic 1/5 and 1/17. Then one that is
      // culled.
      const std::vector<SampleOperand> ball{{f64({2, 3}), {0, 0, 2, NAN, 0, 2}},
                                            {f64({2, 3, 3}), {1, 0, 0, 0, 4, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                            {f64({1, 4, 4}), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
                                            {f64({1, 3, 3}), {2, 0, 16, 0, 2, 12, 0, 0, 1}},
                                            {f64({1, 2, 2}), {1, 2, 1, 1}},
                                            {f64({1, 2}), {3, 1}},
                                            {f64({1, 2, 3}), {1, 0, 1, 1, 1, 1}},
                                            {f64({1, 2}), {0, 1}}};
      A flat = with(CameraModel::ortho);
      flat.blur = 1;
      const auto broken = [&](std::size_t at, SampleOperand operand, std::string_view id) {
        auto in = scene(DType::f64);
        in[at] = std::move(operand);
        return sample<A>(std::move(in)).breaking(id);
      };
      const auto bad = [&](A a, std::string_view id) { return sample<A>(scene(DType::f64), a).breaking(id); };
      return {sample<A>(scene(DType::f64), with(CameraModel::pinhole)).within(1e-11),
              sample<A>(scene(DType::f64), with(CameraModel::fisheye)).within(1e-11).without_gradients(),
              sample<A>(scene(DType::f32), with(CameraModel::pinhole)).within(1e-5),
              sample<A>(scene(DType::f32), with(CameraModel::ortho)).within(1e-5),
              sample<A>(ball, flat)
                  .expects({{2, 4, 3, 0, 0, 0},
                            {-0.16, 0, 0, 0, -4.0 / 289, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                            {-0.32, 0, 4, 2, 0, -32.0 / 289, 8, 4, 0, 0, 6, 3, 0, 0, 0, 0}})
                  .within(1e-12)
                  .without_gradients(),
              broken(0, f32({3, 3}), "C1"),
              broken(0, f64({3, 2}), "C2"),
              broken(1, f64({2, 3, 3}), "C3"),
              broken(2, f64({2, 3, 4}), "C4"),
              broken(3, f64({1, 3, 3}), "C5"),
              bad({.width = 0, .height = 24}, "C6"),
              bad({.near = 2, .far = 1}, "C7"),
              bad({.blur = INFINITY}, "C8"),
              broken(7, f64({2, 3, 1}), "C9"),
              broken(4, f64({2, 3, 3}), "C9")};
    }};

}  // namespace rlx::splat
