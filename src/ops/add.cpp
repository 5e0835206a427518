#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand add_operands[] = {{"x", numbers}, {"y", numbers}};

static Values add_vjp(const VjpCall<NoAttributes>& c) {
  return {pulls(c, 0) ? c.cotangent[0] : Value{}, pulls(c, 1) ? c.cotangent[0] : Value{}};
}
static Values add_jvp(const JvpCall<NoAttributes>& c) { return {plus(c.tangent[0], c.tangent[1])}; }

extern const OpDef<NoAttributes> add_op{
    .name = "add",
    .doc = "x + y; integers wrap.",
    .operands = add_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_binary(c, wrapping([](auto x, auto y) { return x + y; }));
    }},
    .vjp = Vjp<NoAttributes>{add_vjp},
    .jvp = add_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {
          sample({f64({3, 5}), f64({3, 5})}),
          sample({f64({}), f64({})}),
          sample({f64({0, 3}), f64({0, 3})}),
          sample({f32({17}), f32({17})}),
          sample({f16({5}), f16({5})}),
          sample({bf16({5}), bf16({5})}),
          sample({c128({4}), c128({4})}),
          sample({c64({3}), c64({3})}),
          sample({{i32({2, 3}), Fill::uniform, -100, 100}, {i32({2, 3}), Fill::uniform, -100, 100}}),
          sample({{f32({3}), {1, -2, 0.5}}, {f32({3}), {2, 2, 0.25}}}).expects({{3, 0, 0.75}}).exact(),
          sample({{f32({3}), {-0.0, INFINITY, NAN}}, {f32({3}), {-0.0, -INFINITY, 1}}})
              .expects({{-0.0, NAN, NAN}})
              .exact(),
          sample({{f16({2}), {2048, 65504}}, {f16({2}), {1, 65504}}}).expects({{2048, INFINITY}}).exact(),
          sample({{tensor(DType::i8, {2}), {127, -3}}, {tensor(DType::i8, {2}), {1, 5}}}).expects({{-128, 2}}).exact(),
          sample({{i64({1}), {9223372036854775807.0}}, {i64({1}), {1}}}).expects({{-9223372036854775808.0}}).exact(),
          sample({{tensor(DType::u8, {1}), {255}}, {tensor(DType::u8, {1}), {1}}}).expects({{0}}).exact(),
          sample({{c64({1}), {1, 2}}, {c64({1}), {-3, 0.5}}}).expects({{-2, 2.5}}).exact(),
          sample({f32({2}), f32({3})}).breaking("C1"),
          sample({f32({2}), f64({2})}).breaking("C2"),
          sample({boolean({2}), boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
