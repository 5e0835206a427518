#include "splat/ops/colouring.hpp"

#include <rlx/formats/gaussian_cloud.hpp>

#include "splat/ops/harmonics.hpp"

namespace rlx::splat {

using A = ShColorAttrs;
constexpr Operand sh_operands[] = {{"directions", reals}, {"coefficients", reals}};
constexpr Constraint<A> sh_constraints[] = {
    {"C1", "both have one dtype", [](const A&, const Signature& s) { return one_dtype(s, 0, 1); }},
    {"C2", "0 <= degree <= 4", sh_degree},
    {"C3", "coefficients is [n, k, f] with k >= (degree + 1)^2", sh_coefficients},
    {"C4", "directions is [.., n, 3]", sh_directions}};

Answer sh_degree(const A& a, const Signature&) { return a.degree >= 0 && a.degree <= 4; }
Answer sh_coefficients(const A& a, const Signature& s) {
  if (s.rank(1) != 3) return Answer::no("rank " + std::to_string(s.rank(1)));
  return s.less_equal((a.degree + 1) * (a.degree + 1), s.shape(1)[1]);
}
Answer sh_directions(const A&, const Signature& s) { return ends_with(s, 0, {s.shape(1)[0], 3}); }

static Types sh_infer(const A&, const Signature& s) {
  return {tensor(s.dtype(0), with_last(s.shape(0), 1, {s.shape(1)[2]}))};
}

// A zero direction looks along z, without a gradient.
Values sh_decompose(Builder&, const A& a, ValuesIn in) {
  const Values d = components(in[0]);
  const Value length2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], one = ops::full_like(length2, 1);
  const Value zero = ops::compare(length2, ops::zeros_like(length2), ops::Direction::eq);
  const Value inverse = ops::rsqrt(ops::select(zero, one, length2));
  const auto unit = [&](std::size_t k) {
    return ops::select(zero, ops::full_like(length2, k == 2 ? 1 : 0), d[k] * inverse);
  };
  Values basis(static_cast<std::size_t>((a.degree + 1) * (a.degree + 1)));
  basis[0] = ops::full_like(length2, formats::sh_constant);
  spherical_harmonics(unit(0), unit(1), unit(2), a.degree, basis.data());
  const Value used = ops::slice_axis(in[1], 1, 0, (a.degree + 1) * (a.degree + 1));
  const Value sum = ops::reduce_sum(with_axis(stacked(basis), in[0].rank()) * used, {in[0].rank() - 1});
  return {ops::max(sum + 0.5, ops::zeros_like(sum))};
}

// An operator of its own, so that a device may bring a kernel for it.
static Values sh_vjp(const VjpCall<A>& c) {
  const Values g = c.b.emit("splat.sh_color_gradient", {c.in[0], c.in[1], c.cotangent[0]}, c.attrs);
  return {c.wanted[0] ? g[0] : Value{}, c.wanted[1] ? g[1] : Value{}};
}

static ShardRule sh_shard(const A&, const Signature& s) {
  ShardRule r;
  const int n = s.rank(0) - 2, channels = n + 1;  // Factors: the leading dimensions, the Gaussians, the channels.
  r.factors.resize(static_cast<std::size_t>(n) + 2);
  std::vector<int> directions;
  for (int d = 0; d <= n; ++d) directions.push_back(d);
  r.results = {directions};
  r.results[0].push_back(channels);
  directions.push_back(-1);
  r.operands = {directions, {n, -1, channels}};
  return r;
}

extern const OpDef<A> sh_color_op{
    .name = "splat.sh_color",
    .doc =
        "Colours max(0, SH + 0.5) of Gaussians seen along directions of any length. SH is the sum of real spherical "
        "harmonics of "
        "orders 0 to degree with the Gaussian's coefficients; those of higher orders are not read. A zero direction "
        "counts as z and "
        "gets no gradient.",
    .operands = sh_operands,
    .constraints = sh_constraints,
    .infer = sh_infer,
    .meaning = Composite<A>{sh_decompose},
    .vjp = Vjp<A>{sh_vjp},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = sh_shard,
    .cost =
        [](const A& a, const Signature& s) {
          const std::int64_t k = (a.degree + 1) * (a.degree + 1);
          const Types results = sh_infer(a, s);
          return cost_of(s, results,
                         std::get<TensorType>(results[0]).numel() * (2 * k + 2) + s.tensor(0).numel() * (2 * k));
        },
    .samples = []() -> std::vector<Sample<A>> {
      // No colour is near 0, where it has a kink: the bands above the first are small.
      const auto coefficients = [](std::int64_t n, std::int64_t k, std::int64_t f) {
        return SampleOperand{f64({n, k, f}), Fill::uniform, -0.1, 0.1};
      };
      const SampleOperand directions{f64({2, 3, 3})};
      // Along z: the even bands alone, 0.282095 and 0.488603 of a first and a second coefficient.
      const SampleOperand along_z{f64({3, 3}), {0, 0, 2, 0, 0, 0, 0, 0, -5}};
      SampleOperand few{f64({3, 4, 1}), {1, 7, 2, 9, 1, 7, 2, 9, 0, 0, 2, 0}};
      return {sample<A>({directions, coefficients(3, 25, 2)}, {4}).within(1e-13),
              sample<A>({directions, coefficients(3, 16, 3)}, {3}).within(1e-13),
              sample<A>({f64({4, 3}), coefficients(4, 9, 3)}, {2}).within(1e-13),
              sample<A>({f64({4, 3}), coefficients(4, 9, 3)}, {1}).within(1e-13),
              sample<A>({f64({4, 3}), coefficients(4, 1, 1)}),
              sample<A>({f32({4, 3}), f32({4, 25, 3})}, {4}).within(1e-5),
              sample<A>({along_z, few}, {1})
                  .expects({{0.28209479177387814 + 2 * 0.4886025119029199 + 0.5,
                             0.28209479177387814 + 2 * 0.4886025119029199 + 0.5, 0}})
                  .without_gradients(),
              sample<A>({f64({2, 0, 3}), f64({0, 4, 3})}, {1}),
              sample<A>({f32({4, 3}), f64({4, 1, 3})}).breaking("C1"),
              sample<A>({f64({4, 3}), f64({4, 36, 3})}, {5}).breaking("C2"),
              sample<A>({f64({4, 3}), f64({4, 8, 3})}, {2}).breaking("C3"),
              sample<A>({f64({4, 3}), f64({4, 3})}).breaking("C3"),
              sample<A>({f64({5, 3}), f64({4, 1, 3})}).breaking("C4"),
              sample<A>({f64({4, 4}), f64({4, 1, 3})}).breaking("C4")};
    }};

}  // namespace rlx::splat
