#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand sub_operands[] = {{"x", numbers}, {"y", numbers}};

static Values sub_vjp(const VjpCall<NoAttributes>& c) {
  return {pulls(c, 0) ? c.cotangent[0] : Value{}, pulls(c, 1) ? -c.cotangent[0] : Value{}};
}
static Values sub_jvp(const JvpCall<NoAttributes>& c) {
  const Value x = c.tangent[0], y = c.tangent[1];
  return {x && y ? x - y : y ? -y : x};
}

extern const OpDef<NoAttributes> sub_op{
    .name = "sub",
    .doc = "x - y; integers wrap.",
    .operands = sub_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_binary(c, wrapping([](auto x, auto y) { return x - y; }));
    }},
    .vjp = Vjp<NoAttributes>{sub_vjp},
    .jvp = sub_jvp,
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
          sample({{f32({3}), {1, -2, 0.5}}, {f32({3}), {2, -2, 0.25}}}).expects({{-1, 0, 0.25}}).exact(),
          sample({{f32({3}), {0, INFINITY, NAN}}, {f32({3}), {0, INFINITY, 1}}}).expects({{0, NAN, NAN}}).exact(),
          sample({{tensor(DType::i8, {2}), {-128, -3}}, {tensor(DType::i8, {2}), {1, 5}}}).expects({{127, -8}}).exact(),
          sample({{i64({1}), {-9223372036854775808.0}}, {i64({1}), {1}}}).expects({{9223372036854775807.0}}).exact(),
          sample({{tensor(DType::u8, {1}), {0}}, {tensor(DType::u8, {1}), {1}}}).expects({{255}}).exact(),
          sample({{c64({1}), {1, 2}}, {c64({1}), {-3, 0.5}}}).expects({{4, 1.5}}).exact(),
          sample({f32({2}), f32({3})}).breaking("C1"),
          sample({f32({2}), f64({2})}).breaking("C2"),
          sample({boolean({2}), boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
