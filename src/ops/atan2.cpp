#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand atan2_operands[] = {{"y", floating}, {"x", floating}};

static Value atan2_dy(Value y, Value x, Value) { return x / (x * x + y * y); }
static Value atan2_dx(Value y, Value x, Value) { return -(y / (x * x + y * y)); }

extern const OpDef<NoAttributes> atan2_op{
    .name = "atan2",
    .doc = "Angle of the point (x, y) in [-pi, pi]; y comes first.",
    .operands = atan2_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_binary(c, [](double y, double x) { return std::atan2(y, x); });
    }},
    .vjp = Vjp<NoAttributes>{binary_vjp<atan2_dy, atan2_dx>},
    .jvp = binary_jvp<atan2_dy, atan2_dx>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<20>,
    .samples = []() -> Samples {
      return {sample({{f64({3, 5}), Fill::uniform, 0.2, 2}, {f64({3, 5}), Fill::uniform, -2, 2}}),
              sample({f32({17}), f32({17})}),
              sample({f16({5}), f16({5})}),
              sample({bf16({5}), bf16({5})}),
              sample({{f64({4}), {1, -1, 1, 0}}, {f64({4}), {-2, -1, 0, -1}}})
                  .expects({{2.677945044588987, -2.356194490192345, 1.5707963267948966, 3.141592653589793}})
                  .without_gradients(),
              sample({{f32({4}), {0, -0.0, -0.0, NAN}}, {f32({4}), {0, 1, -1, 1}}})
                  .expects({{0, -0.0, -3.1415927, NAN}})
                  .without_gradients(),
              sample({f32({2}), f32({3})}).breaking("C1"),
              sample({f32({2}), f64({2})}).breaking("C2"),
              sample({i32({2}), i32({2})}).breaking("dtype"),
              sample({c64({2}), c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
