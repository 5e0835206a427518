#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand cosh_operands[] = {{"x", floating | complex_types}};

static Value cosh_derivative(Value x, Value) { return sinh(x); }

extern const OpDef<NoAttributes> cosh_op{
    .name = "cosh",
    .doc = "Hyperbolic cosine.",
    .operands = cosh_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return std::cosh(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<cosh_derivative>},
    .jvp = unary_jvp<cosh_derivative>,
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
              sample({{f64({3}), {0, 1, 2}}}).expects({{1, 1.5430806348152437, 3.7621956910836314}}),
              sample({{f32({4}), {-0.0, 100, -INFINITY, NAN}}})
                  .expects({{1, INFINITY, INFINITY, NAN}})
                  .exact()
                  .without_gradients(),
              sample({{c128({2}), {0, 1.0471975511965979, 1, 1}}})
                  .expects({{0.5, 0, 0.833730025131149, 0.9888977057628651}}),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
