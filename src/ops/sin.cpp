#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand sin_operands[] = {{"x", floating | complex_types}};

static Value sin_derivative(Value x, Value) { return cos(x); }

extern const OpDef<NoAttributes> sin_op{
    .name = "sin",
    .doc = "Sine of an angle in radians.",
    .operands = sin_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return std::sin(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<sin_derivative>},
    .jvp = unary_jvp<sin_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<15>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -4, 4}}),
              sample({{f32({17}), Fill::uniform, -4, 4}}),
              sample({{f16({5}), Fill::uniform, -4, 4}}),
              sample({{bf16({5}), Fill::uniform, -4, 4}}),
              sample({c128({4})}),
              sample({c64({3})}),
              sample({{f64({4}), {0, 0.5235987755982989, 1, 100}}})
                  .expects({{0, 0.5, 0.8414709848078965, -0.5063656411097588}}),
              sample({{f32({4}), {-0.0, INFINITY, -INFINITY, NAN}}}).expects({{-0.0, NAN, NAN, NAN}}).exact(),
              sample({{c128({2}), {0, 1, 1, 1}}})
                  .expects({{0, 1.1752011936438014, 1.2984575814159773, 0.6349639147847361}}),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
