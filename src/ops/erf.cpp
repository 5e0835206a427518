#include "ops/elementwise.hpp"

#include <numbers>

namespace rlx::ops {

constexpr Operand erf_operands[] = {{"x", floating}};

static Value erf_derivative(Value x, Value) { return 2 * std::numbers::inv_sqrtpi * exp(-(x * x)); }

extern const OpDef<NoAttributes> erf_op{
    .name = "erf",
    .doc = "Error function 2 / sqrt(pi) * integral of exp(-t^2) from 0 to x.",
    .operands = erf_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::erf(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<erf_derivative>},
    .jvp = unary_jvp<erf_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<20>,
    .samples = []() -> Samples {
      return {
          sample({{f64({2, 3}), Fill::uniform, -2, 2}}),
          sample({{f32({17}), Fill::uniform, -2, 2}}),
          sample({{f16({5}), Fill::uniform, -2, 2}}),
          sample({{bf16({5}), Fill::uniform, -2, 2}}),
          sample({{f64({3}), {0.5, 1, -1}}}).expects({{0.5204998778130465, 0.8427007929497149, -0.8427007929497149}}),
          sample({{f64({1}), {1e-10}}}).expects({{1.1283791670955126e-10}}),
          sample({{f32({4}), {-0.0, INFINITY, -INFINITY, NAN}}}).expects({{-0.0, 1, -1, NAN}}).exact(),
          sample({i32({2})}).breaking("dtype"),
          sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
