#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand acos_operands[] = {{"x", floating}};

// (1 - x) (1 + x): 1 - x^2 would cancel near the ends.
static Value acos_derivative(Value x, Value) { return -rsqrt((1.0 - x) * (1.0 + x)); }

extern const OpDef<NoAttributes> acos_op{
    .name = "acos",
    .doc = "Arc cosine in [0, pi].",
    .operands = acos_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::acos(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<acos_derivative>},
    .jvp = unary_jvp<acos_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<15>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -0.9, 0.9}}),
              sample({{f32({17}), Fill::uniform, -0.9, 0.9}}),
              sample({{f16({5}), Fill::uniform, -0.9, 0.9}}),
              sample({{bf16({5}), Fill::uniform, -0.9, 0.9}}),
              sample({{f64({4}), {1, 0.5, -0.5, -1}}})
                  .expects({{0, 1.0471975511965979, 2.0943951023931953, 3.141592653589793}})
                  .without_gradients(),
              sample({{f32({2}), {1.5, NAN}}}).expects({{NAN, NAN}}).exact(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
