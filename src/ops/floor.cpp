#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand floor_operands[] = {{"x", floating}};

extern const OpDef<NoAttributes> floor_op{
    .name = "floor",
    .doc = "Largest integer not above x.",
    .operands = floor_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::floor(x); });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -3, 3}}),
              sample({{f16({5}), Fill::uniform, -3, 3}}),
              sample({{bf16({5}), Fill::uniform, -3, 3}}),
              sample({{f32({7}), {1.5, -1.5, 2, -0.0, INFINITY, NAN, -0.25}}})
                  .expects({{1, -2, 2, -0.0, INFINITY, NAN, -1}})
                  .exact(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
