#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand is_finite_operands[] = {{"x", floating}};

extern const OpDef<NoAttributes> is_finite_op{
    .name = "is_finite",
    .doc = "Whether x is neither infinite nor NaN.",
    .operands = is_finite_operands,
    .constraints = {},
    .infer = infer_bool<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::isfinite(x); });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_bool<1>,
    .samples = []() -> Samples {
      return {sample({{f32({5}), {0, NAN, INFINITY, -INFINITY, -1}}}).expects({{1, 0, 0, 0, 1}}).exact(),
              sample({{f64({2}), {NAN, 1e308}}}).expects({{0, 1}}).exact(),
              sample({{f16({3}), {65504, NAN, INFINITY}}}).expects({{1, 0, 0}}).exact(),
              sample({{bf16({2}), {NAN, 3e38}}}).expects({{0, 1}}).exact(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
