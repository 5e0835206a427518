#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand atan_operands[] = {{"x", floating}};

static Value atan_derivative(Value x, Value) { return 1.0 / (x * x + 1.0); }

extern const OpDef<NoAttributes> atan_op{
    .name = "atan",
    .doc = "Arc tangent in [-pi/2, pi/2].",
    .operands = atan_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::atan(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<atan_derivative>},
    .jvp = unary_jvp<atan_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<15>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -3, 3}}),
              sample({{f32({17}), Fill::uniform, -3, 3}}),
              sample({{f16({5}), Fill::uniform, -3, 3}}),
              sample({{bf16({5}), Fill::uniform, -3, 3}}),
              sample({{f64({3}), {1, 2, -1}}}).expects({{0.7853981633974483, 1.1071487177940904, -0.7853981633974483}}),
              sample({{f64({2}), {INFINITY, -INFINITY}}})
                  .expects({{1.5707963267948966, -1.5707963267948966}})
                  .without_gradients(),
              sample({{f32({2}), {-0.0, NAN}}}).expects({{-0.0, NAN}}).exact(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
