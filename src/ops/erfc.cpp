#include "ops/elementwise.hpp"

#include <numbers>

namespace rlx::ops {

constexpr Operand erfc_operands[] = {{"x", floating}};

static Value erfc_derivative(Value x, Value) { return -2 * std::numbers::inv_sqrtpi * exp(-(x * x)); }

extern const OpDef<NoAttributes> erfc_op{
    .name = "erfc",
    .doc = "1 - erf(x) without cancellation for large x.",
    .operands = erfc_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::erfc(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<erfc_derivative>},
    .jvp = unary_jvp<erfc_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<20>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -2, 2}}),
              sample({{f32({17}), Fill::uniform, -2, 2}}),
              sample({{f16({5}), Fill::uniform, -2, 2}}),
              sample({{bf16({5}), Fill::uniform, -2, 2}}),
              sample({{f64({2}), {0, 1}}}).expects({{1, 0.15729920705028513}}),
              sample({{f64({1}), {5}}}).expects({{1.5374597944280349e-12}}),
              sample({{f32({4}), {-0.0, INFINITY, -INFINITY, NAN}}}).expects({{1, 0, 2, NAN}}).exact(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
