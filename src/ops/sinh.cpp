#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand sinh_operands[] = {{"x", floating | complex_types}};

static Value sinh_derivative(Value x, Value) { return cosh(x); }

extern const OpDef<NoAttributes> sinh_op{
    .name = "sinh",
    .doc = "Hyperbolic sine.",
    .operands = sinh_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return std::sinh(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<sinh_derivative>},
    .jvp = unary_jvp<sinh_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<15>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -2, 2}}),
              sample({{f32({17}), Fill::uniform, -2, 2}}),
              sample({{f16({5}), Fill::uniform, -2, 2}}),
              sample({{bf16({5}), Fill::uniform, -2, 2}}),
              sample({c128({4})}),
              sample({c64({3})}),
              sample({{f64({3}), {0, 1, 2}}}).expects({{0, 1.1752011936438014, 3.626860407847019}}),
              sample({{f32({4}), {-0.0, 100, -INFINITY, NAN}}})
                  .expects({{-0.0, INFINITY, -INFINITY, NAN}})
                  .exact()
                  .without_gradients(),
              sample({{c128({2}), {0, 1.5707963267948966, 1, 1}}})
                  .expects({{0, 1, 0.6349639147847361, 1.2984575814159773}}),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
