#include "ops/elementwise.hpp"

#include <bit>

namespace rlx::ops {

constexpr Operand fma_operands[] = {{"x", floating}, {"y", floating}, {"z", floating}};

static Values fma_vjp(const VjpCall<NoAttributes>& c) {
  const Value t = c.cotangent[0];
  return {pulls(c, 0) ? t * c.in[1] : Value{}, pulls(c, 1) ? t * c.in[0] : Value{}, pulls(c, 2) ? t : Value{}};
}
static Values fma_jvp(const JvpCall<NoAttributes>& c) {
  return {plus(plus(scaled(c.tangent[0], c.in[1]), scaled(c.tangent[1], c.in[0])), c.tangent[2])};
}

/// x y + z of numbers of at most 24 bits each, rounded to odd: a second rounding, to those 24 bits or fewer, then gives
/// what one rounding of the exact value would (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
/// 2008).
static double fma_to_odd(double x, double y, double z) {
  const double p = x * y;  // exact
  const double sum = p + z;
  const double back = sum - p, error = (p - (sum - back)) + (z - back);  // Knuth's two-sum: sum + error = p + z exactly
  if (!std::isfinite(sum) || error == 0) return sum;
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (bits & 1) return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

extern const OpDef<NoAttributes> fma_op{
    .name = "fma",
    .doc = "x * y + z, rounded once.",
    .operands = fma_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      if (c.result().dtype == DType::f64)
        return map_ternary(c, [](double x, double y, double z) { return std::fma(x, y, z); });
      return map_ternary(c, [](double x, double y, double z) { return fma_to_odd(x, y, z); });
    }},
    .vjp = Vjp<NoAttributes>{fma_vjp},
    .jvp = fma_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<2>,
    .samples = []() -> Samples {
      return {sample({f64({3, 5}), f64({3, 5}), f64({3, 5})}),
              sample({f32({17}), f32({17}), f32({17})}),
              sample({f16({5}), f16({5}), f16({5})}),
              sample({bf16({5}), bf16({5}), bf16({5})}),
              sample({{f32({2}), {2, 0.5}}, {f32({2}), {3, 4}}, {f32({2}), {1, -2}}}).expects({{7, 0}}).exact(),
              sample({{f32({1}), {1.000000119209289550781}},
                      {f32({1}), {1.000000119209289550781}},
                      {f32({1}), {-1.00000023841857910156}}})
                  .expects({{1.42108547152020037174e-14}})
                  .exact(),
              sample({{f64({1}), {1.0000000000000002220446}},
                      {f64({1}), {1.0000000000000002220446}},
                      {f64({1}), {-1.0000000000000004440892}}})
                  .expects({{4.93038065763132378382e-32}})
                  .exact(),
              sample({{f32({2}), {4097, 4097}}, {f32({2}), {4097, 4097}}, {f32({2}), {1e-30, -1e-30}}})
                  .expects({{16785410, 16785408}})
                  .exact(),
              sample({{f32({3}), {INFINITY, NAN, 1}}, {f32({3}), {0, 1, 1}}, {f32({3}), {1, 1, INFINITY}}})
                  .expects({{NAN, NAN, INFINITY}})
                  .exact(),
              sample({f32({2}), f32({2}), f32({3})}).breaking("C1"),
              sample({f32({2}), f32({2}), f64({2})}).breaking("C2"),
              sample({i32({2}), i32({2}), i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
