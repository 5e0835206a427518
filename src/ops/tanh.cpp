#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand tanh_operands[] = {{"x", floating | complex_types}};

static Value tanh_derivative(Value, Value y) { return (1.0 - y) * (1.0 + y); }

extern const OpDef<NoAttributes> tanh_op{
    .name = "tanh",
    .doc = "Hyperbolic tangent.",
    .operands = tanh_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return std::tanh(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<tanh_derivative>},
    .jvp = unary_jvp<tanh_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<15>,
    .samples = []() -> Samples {
      return {
          sample({{f64({2, 3}), Fill::uniform, -2, 2}}),
          sample({{f32({17}), Fill::uniform, -2, 2}}),
          sample({{f16({5}), Fill::uniform, -2, 2}}),
          sample({{bf16({5}), Fill::uniform, -2, 2}}),
          sample({c128({4})}),
          sample({c64({3})}),
          sample({{f64({3}), {0.5, 1, -1}}}).expects({{0.46211715726000973, 0.7615941559557649, -0.7615941559557649}}),
          sample({{f32({5}), {-0.0, 100, INFINITY, -INFINITY, NAN}}}).expects({{-0.0, 1, 1, -1, NAN}}).exact(),
          sample({{c128({2}), {0, 0.7853981633974483, 1, 1}}})
              .expects({{0, 1, 1.0839233273386946, 0.2717525853195117}}),
          sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
