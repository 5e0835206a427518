#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand sqrt_operands[] = {{"x", floating | complex_types}};

static Value sqrt_derivative(Value, Value y) { return 0.5 / y; }

extern const OpDef<NoAttributes> sqrt_op{
    .name = "sqrt",
    .doc = "Square root; of a complex number the one with real part >= 0.",
    .operands = sqrt_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return std::sqrt(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<sqrt_derivative>},
    .jvp = unary_jvp<sqrt_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<4>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, 0.3, 3}}),
              sample({{f32({17}), Fill::uniform, 0.3, 3}}),
              sample({{f16({5}), Fill::uniform, 0.3, 3}}),
              sample({{bf16({5}), Fill::uniform, 0.3, 3}}),
              sample({{c128({4}), Fill::uniform, 0.2, 2}}),
              sample({{c64({3}), Fill::uniform, 0.2, 2}}),
              sample({{f64({3}), {4, 2, 0.25}}}).expects({{2, 1.4142135623730951, 0.5}}),
              sample({{f32({5}), {0, -0.0, -1, INFINITY, NAN}}})
                  .expects({{0, -0.0, NAN, INFINITY, NAN}})
                  .exact()
                  .without_gradients(),
              sample({{c128({2}), {-4, 0, 3, 4}}}).expects({{0, 2, 2, 1}}).without_gradients(),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
