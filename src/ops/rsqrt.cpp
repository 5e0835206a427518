#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand rsqrt_operands[] = {{"x", floating}};

static Value rsqrt_derivative(Value x, Value y) { return -0.5 * (y / x); }

extern const OpDef<NoAttributes> rsqrt_op{
    .name = "rsqrt",
    .doc = "1 / sqrt(x).",
    .operands = rsqrt_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return 1 / std::sqrt(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<rsqrt_derivative>},
    .jvp = unary_jvp<rsqrt_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<5>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, 0.3, 3}}),
              sample({{f32({17}), Fill::uniform, 0.3, 3}}),
              sample({{f16({5}), Fill::uniform, 0.3, 3}}),
              sample({{bf16({5}), Fill::uniform, 0.3, 3}}),
              sample({{f64({3}), {4, 2, 0.25}}}).expects({{0.5, 0.7071067811865476, 2}}),
              sample({{f32({5}), {0, -0.0, -1, INFINITY, NAN}}})
                  .expects({{INFINITY, -INFINITY, NAN, 0, NAN}})
                  .exact()
                  .without_gradients(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
