#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand is_nan_operands[] = {{"x", floating}};

extern const OpDef<NoAttributes> is_nan_op{
    .name = "is_nan",
    .doc = "Whether x is NaN.",
    .operands = is_nan_operands,
    .constraints = {},
    .infer = infer_bool<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::isnan(x); });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_bool<1>,
    .samples = []() -> Samples {
      return {sample({{f32({5}), {0, NAN, INFINITY, -INFINITY, -1}}}).expects({{0, 1, 0, 0, 0}}).exact(),
              sample({{f64({2}), {NAN, 1e308}}}).expects({{1, 0}}).exact(),
              sample({{f16({2}), {NAN, INFINITY}}}).expects({{1, 0}}).exact(),
              sample({{bf16({2}), {NAN, INFINITY}}}).expects({{1, 0}}).exact(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
