#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand asin_operands[] = {{"x", floating}};

// (1 - x) (1 + x): 1 - x^2 would cancel near the ends.
static Value asin_derivative(Value x, Value) { return rsqrt((1.0 - x) * (1.0 + x)); }

extern const OpDef<NoAttributes> asin_op{
    .name = "asin",
    .doc = "Arc sine in [-pi/2, pi/2].",
    .operands = asin_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::asin(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<asin_derivative>},
    .jvp = unary_jvp<asin_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<15>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -0.9, 0.9}}),
              sample({{f32({17}), Fill::uniform, -0.9, 0.9}}),
              sample({{f16({5}), Fill::uniform, -0.9, 0.9}}),
              sample({{bf16({5}), Fill::uniform, -0.9, 0.9}}),
              sample({{f64({4}), {1, 0.5, 0.75, -1}}})
                  .expects({{1.5707963267948966, 0.5235987755982989, 0.848062078981481, -1.5707963267948966}})
                  .without_gradients(),
              sample({{f32({3}), {-0.0, 1.5, NAN}}}).expects({{-0.0, NAN, NAN}}).exact(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
