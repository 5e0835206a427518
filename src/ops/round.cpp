#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand round_operands[] = {{"x", floating}};

static double half_even(double x) {
  const double away = std::round(x);  // halves away from 0; not nearbyint, which follows the caller's rounding mode
  return std::fabs(x - std::trunc(x)) == 0.5 ? 2 * std::round(x / 2) : away;
}

extern const OpDef<NoAttributes> round_op{
    .name = "round",
    .doc = "Nearest integer, halves to the even one.",
    .operands = round_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return half_even(x); });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -3, 3}}),
              sample({{f16({5}), Fill::uniform, -3, 3}}),
              sample({{bf16({5}), Fill::uniform, -3, 3}}),
              sample({{f32({10}), {0.5, 1.5, 2.5, -0.5, -2.5, 2.75, -0.0, INFINITY, NAN, 8388609}}})
                  .expects({{0, 2, 2, -0.0, -2, 3, -0.0, INFINITY, NAN, 8388609}})
                  .exact(),
              sample({{f64({2}), {0.49999999999999994, 4503599627370497.5}}})
                  .expects({{0, 4503599627370498}})
                  .exact()
                  .without_gradients(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
