#include "splat/ops/common.hpp"

#include <algorithm>

namespace rlx::splat {

using A = KnnAttrs;
constexpr Operand knn_operands[] = {{"points", reals}};
constexpr Constraint<A> knn_constraints[] = {
    {"C1", "points is [n, 3]",
     [](const A&, const Signature& s) -> Answer {
       if (s.rank(0) != 2) return Answer::no("rank " + std::to_string(s.rank(0)));
       return s.equal(s.shape(0)[1], 3);
     }},
    {"C2", "k >= 1, and there are more than k points", [](const A& a, const Signature& s) -> Answer {
       if (a.k < 1) return false;
       return s.less_equal(a.k + 1, s.shape(0)[0]);
     }}};

static Types knn_infer(const A&, const Signature& s) { return {tensor(s.dtype(0), {s.shape(0)[0]})}; }

// All distances, a block of points a trip, so that memory stays in proportion to the number of points. The last block
// begins early enough to be whole.
static Values knn_decompose(Builder& b, const A& a, ValuesIn in) {
  const Dim n = in[0].shape()[0];
  const DType real = in[0].dtype();
  const std::int64_t block = n.is_constant() ? std::min<std::int64_t>(256, n.constant()) : 1;
  const Values state{ops::scalar(b, DType::i32, 0), ops::full(b, real, {n}, 0)};
  const Value index = ops::iota(b, DType::i32, {n}, 0);
  const Value last = ops::reshape(ops::slice_axis(index, 0, n - block, n - block + 1), {});
  const Values invariants{in[0], index, last};
  const Values out = ops::while_(
      state, invariants,
      [&](ValuesIn v) -> Values {  // The trip before began less than a block in front of the last one.
        return {ops::compare(v[0], v[4] + static_cast<double>(block), ops::Direction::lt)};
      },
      [&](ValuesIn v) -> Values {
        const Value zero = ops::scalar(*v[0].builder, DType::i32, 0), begin = ops::min(v[0], v[4]);
        const Value mine = ops::dynamic_slice(v[2], Values{begin, zero}, {block, 3});
        Value square;
        for (int d = 0; d < 3; ++d) {
          const Value gap = with_axis(component(mine, d), 1) - with_axis(component(v[2], d), 0);
          square = square ? square + gap * gap : gap * gap;
        }
        const Value self = ops::compare(with_axis(ops::dynamic_slice(v[3], Values{begin}, {block}), 1),
                                        with_axis(v[3], 0), ops::Direction::eq);
        const Value far = ops::logical_or(self, ops::is_nan(square));
        const Value near = ops::select(far, ops::full_like(square, -INFINITY), ops::neg(square));
        const Value mean = ops::neg(ops::mean(ops::top_k(near, a.k)[0], {1}));
        return {v[0] + static_cast<double>(block), ops::dynamic_update_slice(v[1], mean, Values{begin})};
      });
  return {out[1]};
}

extern const OpDef<A> knn_op{
    .name = "splat.knn",
    .doc =
        "The mean of the squared distances of each point to its k nearest others, from which initial scales of "
        "Gaussians are "
        "made. A point with a NaN is infinitely far.",
    .operands = knn_operands,
    .constraints = knn_constraints,
    .infer = knn_infer,
    .meaning = Composite<A>{knn_decompose},
    .vjp = Never{"initial scales are not differentiated"},
    .jvp = Never{"initial scales are not differentiated"},
    .batch = Derived{},
    .shard = Never{"every point is compared with every other"},
    .cost =
        [](const A& a, const Signature& s) {
          const Dim n = s.shape(0)[0];
          return cost_of(s, knn_infer(a, s), n * n * 8);
        },
    .samples = []() -> std::vector<Sample<A>> {
      const double inf = INFINITY;
      return {sample<A>({f64({40, 3})}, {.k = 3}).within(1e-13),
              sample<A>({f32({300, 3})}, {.k = 4}).within(1e-5),  // Two blocks.
              sample<A>({{f64({4, 3}), {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0}}}, {.k = 2})
                  .expects({{0.5, 1, 4, 0.5}}),  // Two points in one place.
              sample<A>({{f32({3, 3}), {0, 0, 0, 3, 4, 0, NAN, 0, 0}}}, {.k = 1}).expects({{25, 25, inf}}),
              sample<A>({f64({2, 3})}, {.k = 1}),
              sample<A>({f64({4, 2})}).breaking("C1"),
              sample<A>({f64({3, 3})}, {.k = 3}).breaking("C2"),
              sample<A>({f64({3, 3})}, {.k = 0}).breaking("C2")};
    }};

}  // namespace rlx::splat
