#include "splat/ops/colouring.hpp"

namespace rlx::splat {

using A = ShColorAttrs;
constexpr Operand gradient_operands[] = {{"directions", reals}, {"coefficients", reals}, {"cotangent", reals}};
constexpr Constraint<A> gradient_constraints[] = {
    {"C1", "all have one dtype", [](const A&, const Signature& s) { return one_dtype(s, 0, 2); }},
    {"C2", "0 <= degree <= 4", sh_degree},
    {"C3", "coefficients is [n, k, f] with k >= (degree + 1)^2", sh_coefficients},
    {"C4", "directions is [.., n, 3]", sh_directions},
    {"C5", "cotangent is [.., n, f]",
     [](const A&, const Signature& s) { return has_shape(s, 2, with_last(s.shape(0), 1, {s.shape(1)[2]})); }}};

static Types gradient_infer(const A&, const Signature& s) { return {s.tensor(0), s.tensor(1)}; }

static Values gradient_decompose(Builder& b, const A& a, ValuesIn in) {
  return pulled_back(b, in.first(2), in.subspan(2), {true, true},
                     [&](Builder& inner, ValuesIn x) { return sh_decompose(inner, a, x); });
}

static ShardRule gradient_shard(const A&, const Signature& s) {
  ShardRule r;
  r.factors.resize(1);  // The Gaussians: every other dimension is summed over in one of the results.
  std::vector<int> directions(static_cast<std::size_t>(s.rank(0)), -1);
  directions[directions.size() - 2] = 0;
  const std::vector<int> coefficients{0, -1, -1};
  r.operands = {directions, coefficients, directions};
  r.results = {directions, coefficients};
  return r;
}

extern const OpDef<A> sh_color_gradient_op{
    .name = "splat.sh_color_gradient",
    .doc =
        "Gradients of splat.sh_color to directions and coefficients, from the cotangent of the colours. Where a colour "
        "is 0 before the maximum with 0, half of it passes.",
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
          const std::int64_t k = (a.degree + 1) * (a.degree + 1);
          return cost_of(s, gradient_infer(a, s), s.tensor(2).numel() * (6 * k + 2) + s.tensor(0).numel() * (4 * k));
        },
    .samples = []() -> std::vector<Sample<A>> {
      const auto operands = [](DType t, std::int64_t k, std::int64_t f) -> std::vector<SampleOperand> {
        return {tensor(t, {2, 3, 3}), {tensor(t, {3, k, f}), Fill::uniform, -0.1, 0.1}, tensor(t, {2, 3, f})};
      };
      // Along z, at 2: what lies across is halved. A colour below 0, and a direction that is none.
      constexpr double zero = 0.28209479177387814, one = 0.4886025119029199;
      const SampleOperand along_z{f64({3, 3}), {0, 0, 2, 0, 0, -5, 0, 0, 0}};
      const SampleOperand few{f64({3, 4, 1}), {1, 7, 2, 9, 0, 0, 2, 0, 1, 7, 2, 9}}, ones{f64({3, 1}), {1, 1, 2}};
      return {sample<A>(operands(DType::f64, 25, 2), {4}).within(1e-12),
              sample<A>(operands(DType::f64, 16, 3), {3}).within(1e-12),
              sample<A>({f64({4, 3}), {f64({4, 9, 3}), Fill::uniform, -0.1, 0.1}, f64({4, 3})}, {1}).within(1e-12),
              sample<A>(operands(DType::f32, 25, 3), {4}).within(1e-5),
              sample<A>(operands(DType::f32, 16, 2), {2}).within(1e-5),
              sample<A>({along_z, few, ones}, {1})
                  .expects({{-4.5 * one, -3.5 * one, 0, 0, 0, 0, 0, 0, 0},
                            {zero, 0, one, 0, 0, 0, 0, 0, 2 * zero, 0, 2 * one, 0}})
                  .without_gradients(),
              sample<A>({f64({2, 0, 3}), f64({0, 4, 3}), f64({2, 0, 3})}, {1}),
              sample<A>({f64({4, 3}), f64({4, 1, 3}), f32({4, 3})}).breaking("C1"),
              sample<A>({f64({4, 3}), f64({4, 36, 3}), f64({4, 3})}, {5}).breaking("C2"),
              sample<A>({f64({4, 3}), f64({4, 8, 3}), f64({4, 3})}, {2}).breaking("C3"),
              sample<A>({f64({5, 3}), f64({4, 1, 3}), f64({5, 3})}).breaking("C4"),
              sample<A>({f64({4, 3}), f64({4, 1, 3}), f64({4, 2})}).breaking("C5")};
    }};

}  // namespace rlx::splat
