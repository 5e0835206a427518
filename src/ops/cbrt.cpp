#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand cbrt_operands[] = {{"x", floating}};

static Value cbrt_derivative(Value, Value y) { return 1.0 / (3.0 * (y * y)); }

extern const OpDef<NoAttributes> cbrt_op{
    .name = "cbrt",
    .doc = "Real cube root.",
    .operands = cbrt_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::cbrt(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<cbrt_derivative>},
    .jvp = unary_jvp<cbrt_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<12>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, 0.3, 3}}),
              sample({{f32({17}), Fill::uniform, 0.3, 3}}),
              sample({{f16({5}), Fill::uniform, 0.3, 3}}),
              sample({{bf16({5}), Fill::uniform, 0.3, 3}}),
              sample({{f64({3}), Fill::uniform, -3, -0.3}}),
              sample({{f64({3}), {27, -8, 2}}}).expects({{3, -2, 1.2599210498948732}}),
              sample({{f32({4}), {-0.0, INFINITY, -INFINITY, NAN}}})
                  .expects({{-0.0, INFINITY, -INFINITY, NAN}})
                  .exact()
                  .without_gradients(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
