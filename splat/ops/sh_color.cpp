#include "splat/ops/common.hpp"

namespace rlx::splat {

using A = ShColorAttrs;
constexpr Operand sh_operands[] = {{"directions", reals}, {"coefficients", reals}};
constexpr Constraint<A> sh_constraints[] = {
    {"C1", "both have one dtype", [](const A&, const Signature& s) { return one_dtype(s, 0, 1); }},
    {"C2", "0 <= degree <= 4", [](const A& a, const Signature&) -> Answer { return a.degree >= 0 && a.degree <= 4; }},
    {"C3", "coefficients is [n, k, f] with k >= (degree + 1)^2",
     [](const A& a, const Signature& s) -> Answer {
       if (s.rank(1) != 3) return Answer::no("rank " + std::to_string(s.rank(1)));
       return s.less_equal((a.degree + 1) * (a.degree + 1), s.shape(1)[1]);
     }},
    {"C4", "directions is [.., n, 3]",
     [](const A&, const Signature& s) { return ends_with(s, 0, {s.shape(1)[0], 3}); }}};

static Types sh_infer(const A&, const Signature& s) {
  return {tensor(s.dtype(0), with_last(s.shape(0), 1, {s.shape(1)[2]}))};
}

// Real spherical harmonics of orders 0 to `degree` at a unit vector, with the signs that are usual in splatting (those
// of P.-P. Sloan, JCGT 2 (2013), without the Condon-Shortley phase of odd x and y).
static Values sh_basis(Value x, Value y, Value z, int degree) {
  Values b{ops::full_like(x, 0.28209479177387814)};
  const auto add = [&](std::initializer_list<Value> more) { b.insert(b.end(), more); };
  if (degree >= 1) add({-0.4886025119029199 * y, 0.4886025119029199 * z, -0.4886025119029199 * x});
  if (degree < 2) return b;
  const Value xx = x * x, yy = y * y, zz = z * z, xy = x * y, difference = xx - yy;
  add({1.0925484305920792 * xy, -1.0925484305920792 * (y * z), 0.31539156525252005 * (2.0 * zz - xx - yy),
       -1.0925484305920792 * (x * z), 0.5462742152960396 * difference});
  if (degree < 3) return b;
  const Value y3 = y * (3.0 * xx - yy), x3 = x * (xx - 3.0 * yy), four = 4.0 * zz - xx - yy;
  add({-0.5900435899266435 * y3, 2.890611442640554 * (xy * z), -0.4570457994644658 * (y * four),
       0.3731763325901154 * (z * (2.0 * zz - 3.0 * xx - 3.0 * yy)), -0.4570457994644658 * (x * four),
       1.445305721320277 * (z * difference), -0.5900435899266435 * x3});
  if (degree < 4) return b;
  const Value seven = 7.0 * zz - 1.0, seven3 = z * (7.0 * zz - 3.0);
  add({2.5033429417967046 * (xy * difference), -1.7701307697799304 * (z * y3), 0.9461746957575601 * (xy * seven),
       -0.6690465435572892 * (y * seven3), 0.10578554691520431 * (zz * (35.0 * zz - 30.0) + 3.0),
       -0.6690465435572892 * (x * seven3), 0.47308734787878004 * (difference * seven), -1.7701307697799304 * (z * x3),
       0.6258357354491761 * (x * x3 - y * y3)});
  return b;
}

// A zero direction looks along z, without a gradient.
static Values sh_decompose(Builder&, const A& a, ValuesIn in) {
  const Values d = components(in[0]);
  const Value length2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  const Value zero = ops::compare(length2, ops::zeros_like(length2), ops::Direction::eq);
  const Value inverse = ops::rsqrt(ops::select(zero, ops::full_like(length2, 1), length2));
  const Value z = ops::select(zero, ops::full_like(length2, 1), d[2] * inverse);
  const Value basis = with_axis(stacked(sh_basis(d[0] * inverse, d[1] * inverse, z, a.degree)), in[0].rank());
  const Value used = ops::slice_axis(in[1], 1, 0, (a.degree + 1) * (a.degree + 1));
  const Value sum = ops::reduce_sum(basis * used, {in[0].rank() - 1});
  return {ops::max(sum + 0.5, ops::zeros_like(sum))};
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
    .vjp = Derived{},
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
