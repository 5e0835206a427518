#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand cos_operands[] = {{"x", floating | complex_types}};

static Value cos_derivative(Value x, Value) { return -sin(x); }

extern const OpDef<NoAttributes> cos_op{
    .name = "cos",
    .doc = "Cosine of an angle in radians.",
    .operands = cos_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return std::cos(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<cos_derivative>},
    .jvp = unary_jvp<cos_derivative>,
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
              sample({{f64({4}), {0, 1.0471975511965979, 1, 100}}})
                  .expects({{1, 0.5, 0.5403023058681398, 0.8623188722876839}}),
              sample({{f32({4}), {-0.0, INFINITY, -INFINITY, NAN}}}).expects({{1, NAN, NAN, NAN}}).exact(),
              sample({{c128({2}), {0, 1, 1, 1}}})
                  .expects({{1.5430806348152437, 0, 0.833730025131149, -0.9888977057628651}}),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
