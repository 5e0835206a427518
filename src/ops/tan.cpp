#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand tan_operands[] = {{"x", floating | complex_types}};

static Value tan_derivative(Value, Value y) { return y * y + 1.0; }

extern const OpDef<NoAttributes> tan_op{
    .name = "tan",
    .doc = "Tangent of an angle in radians.",
    .operands = tan_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return std::tan(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<tan_derivative>},
    .jvp = unary_jvp<tan_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<20>,
    .samples = []() -> Samples {
      return {
          sample({{f64({2, 3}), Fill::uniform, -1.2, 1.2}}),
          sample({{f32({17}), Fill::uniform, -1.2, 1.2}}),
          sample({{f16({5}), Fill::uniform, -1.2, 1.2}}),
          sample({{bf16({5}), Fill::uniform, -1.2, 1.2}}),
          sample({c128({4})}),
          sample({c64({3})}),
          sample({{f64({4}), {0, 0.7853981633974483, 1, 2}}}).expects({{0, 1, 1.5574077246549023, -2.185039863261519}}),
          sample({{f32({4}), {-0.0, INFINITY, -INFINITY, NAN}}}).expects({{-0.0, NAN, NAN, NAN}}).exact(),
          sample({{c128({2}), {0, 1, 1, 1}}})
              .expects({{0, 0.7615941559557649, 0.2717525853195117, 1.0839233273386946}}),
          sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
