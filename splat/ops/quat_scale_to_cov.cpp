#include "splat/ops/common.hpp"

namespace rlx::splat {

using A = CovarianceAttrs;
constexpr Operand covariance_operands[] = {{"quats", reals}, {"scales", reals}};
constexpr Constraint<A> covariance_constraints[] = {
    {"C1", "both have one dtype", [](const A&, const Signature& s) { return one_dtype(s, 0, 1); }},
    {"C2", "quats is [.., 4]", [](const A&, const Signature& s) { return ends_with(s, 0, {4}); }},
    {"C3", "scales has the shape of quats, but for the last dimension, which is 3",
     [](const A&, const Signature& s) { return has_shape(s, 1, with_last(s.shape(0), 1, {3})); }}};

static Types covariance_infer(const A& a, const Signature& s) {
  const Type matrices = tensor(s.dtype(0), with_last(s.shape(0), 1, {3, 3}));
  return Types(a.precisions ? 2 : 1, matrices);
}

// R diag(d^2) R^T of the rows of R and three numbers.
static Value rotated_diagonal(const std::array<Values, 3>& rows, const Values& d) {
  std::array<Values, 3> m;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) m[i].push_back(rows[i][k] * d[k]);
  const auto entry = [&](int i, int j) { return m[i][0] * m[j][0] + m[i][1] * m[j][1] + m[i][2] * m[j][2]; };
  const Value xx = entry(0, 0), xy = entry(0, 1), xz = entry(0, 2), yy = entry(1, 1), yz = entry(1, 2),
              zz = entry(2, 2);
  return ops::reshape(stacked(Values{xx, xy, xz, xy, yy, yz, xz, yz, zz}), with_last(xx.shape(), 0, {3, 3}));
}

// The rotation of a quaternion of any length needs its squared length alone. Of a zero quaternion, products of whose
// parts are 0, that makes the identity, with zero gradients, once the division is safe.
static Values covariance_decompose(Builder&, const A& a, ValuesIn in) {
  const Values q = components(in[0]), s = components(in[1]);
  const Value w = q[0], x = q[1], y = q[2], z = q[3];
  const Value length2 = w * w + x * x + y * y + z * z;
  const Value zero = ops::compare(length2, ops::zeros_like(length2), ops::Direction::eq);
  const Value two = 2.0 / ops::select(zero, ops::full_like(length2, 1), length2);
  const std::array<Values, 3> rows{Values{1.0 - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y)},
                                   Values{two * (x * y + w * z), 1.0 - two * (x * x + z * z), two * (y * z - w * x)},
                                   Values{two * (x * z - w * y), two * (y * z + w * x), 1.0 - two * (x * x + y * y)}};
  Values out{rotated_diagonal(rows, s)};
  if (a.precisions) out.push_back(rotated_diagonal(rows, {1.0 / s[0], 1.0 / s[1], 1.0 / s[2]}));
  return out;
}

// One dimension more in front is one more leading dimension.
static Batched covariance_batch(const BatchCall<A>& c) {
  Values in;
  for (std::size_t i = 0; i < 2; ++i) in.push_back(leading(c.in[i], c.axes[i], c.size));
  Values out = c.b.emit("splat.quat_scale_to_cov", in, c.attrs);
  std::vector<int> axes(out.size(), 0);
  return {std::move(out), std::move(axes)};
}

static ShardRule covariance_shard(const A& a, const Signature& s) {
  ShardRule r;
  std::vector<int> dims;
  for (int d = 0; d + 1 < s.rank(0); ++d) r.factors.push_back({}), dims.push_back(d);
  std::vector<int> vectors = dims, matrices = dims;
  vectors.push_back(-1);
  matrices.insert(matrices.end(), {-1, -1});
  r.operands = {vectors, vectors};
  r.results.assign(a.precisions ? 2 : 1, matrices);
  return r;
}

extern const OpDef<A> quat_scale_to_cov_op{
    .name = "splat.quat_scale_to_cov",
    .doc =
        "Covariances R diag(scales^2) R^T of Gaussians, R the rotation of a quaternion w, x, y, z of any length, and "
        "on "
        "request their inverses. A zero quaternion stands for no rotation and gets no gradient. Source: B. Kerbl et "
        "al., ACM TOG "
        "42 (2023), equation 6.",
    .operands = covariance_operands,
    .constraints = covariance_constraints,
    .infer = covariance_infer,
    .meaning = Composite<A>{covariance_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = covariance_batch,
    .shard = covariance_shard,
    .cost =
        [](const A& a, const Signature& s) {
          const Types results = covariance_infer(a, s);
          return cost_of(s, results, std::get<TensorType>(results[0]).numel() * (a.precisions ? 12 : 8));
        },
    .samples = []() -> std::vector<Sample<A>> {
      const SampleOperand quats{f64({5, 4}), Fill::uniform, -1, 1}, scales{f64({5, 3}), Fill::uniform, 0.3, 2};
      // A quarter turn about z takes the axes x, y to y, -x, at any length of the quaternion.
      const SampleOperand turn{f64({2, 4}), {2, 0, 0, 2, 0, 0, 0, 0}}, axes{f64({2, 3}), {1, 2, 3, 1, 2, 4}};
      return {
          sample<A>({quats, scales}),
          sample<A>({quats, scales}, {.precisions = true}).within(1e-13),
          sample<A>({{f32({2, 3, 4}), Fill::uniform, -1, 1}, {f32({2, 3, 3}), Fill::uniform, 0.01, 1}}).within(1e-5),
          sample<A>({turn, axes}, {.precisions = true})
              .expects({{4, 0, 0, 0, 1, 0, 0, 0, 9, 1, 0, 0, 0, 4, 0, 0, 0, 16},
                        {0.25, 0, 0, 0, 1, 0, 0, 0, 1.0 / 9, 1, 0, 0, 0, 0.25, 0, 0, 0, 1.0 / 16}})
              .without_gradients(),
          sample<A>({f64({4}), f64({3})}),
          sample<A>({f64({0, 4}), f64({0, 3})}),
          sample<A>({f64({2, 4}), f32({2, 3})}).breaking("C1"),
          sample<A>({f64({4, 3}), f64({4, 3})}).breaking("C2"),
          sample<A>({f64({}), f64({3})}).breaking("C2"),
          sample<A>({f64({2, 4}), f64({3, 3})}).breaking("C3"),
          sample<A>({f64({2, 4}), f64({2, 4})}).breaking("C3")};
    }};

}  // namespace rlx::splat
