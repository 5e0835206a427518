#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand max_operands[] = {{"x", real_numbers}, {"y", real_numbers}};

static Value max_share(Value t, Value x, Value y) {
  return share(t, compare(x, y, Direction::gt), compare(x, y, Direction::eq));
}
static Values max_vjp(const VjpCall<NoAttributes>& c) {
  return {pulls(c, 0) ? max_share(c.cotangent[0], c.in[0], c.in[1]) : Value{},
          pulls(c, 1) ? max_share(c.cotangent[0], c.in[1], c.in[0]) : Value{}};
}
static Values max_jvp(const JvpCall<NoAttributes>& c) {
  return {plus(c.tangent[0] ? max_share(c.tangent[0], c.in[0], c.in[1]) : Value{},
               c.tangent[1] ? max_share(c.tangent[1], c.in[1], c.in[0]) : Value{})};
}

extern const OpDef<NoAttributes> max_op{
    .name = "max",
    .doc = "The larger of x and y; a NaN wins, -0 is below 0. In a tie each operand gets half the gradient.",
    .operands = max_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_binary(c, []<RealElement T>(T x, T y) { return maximum(x, y); });
    }},
    .vjp = Vjp<NoAttributes>{max_vjp},
    .jvp = max_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {
          sample({{f64({3, 5}), Fill::distinct, -1, 1}, {f64({3, 5}), Fill::distinct, -0.93, 1.11}}),
          sample({f32({17}), f32({17})}),
          sample({f16({5}), f16({5})}),
          sample({bf16({5}), bf16({5})}),
          sample({{i32({2, 3}), Fill::uniform, -9, 9}, {i32({2, 3}), Fill::uniform, -9, 9}}),
          sample({{f32({5}), {-0.0, 0, NAN, 1, 2}}, {f32({5}), {0, -0.0, 1, NAN, 1}}})
              .expects({{0, 0, NAN, NAN, 2}})
              .exact()
              .without_gradients(),
          sample({{tensor(DType::i8, {2}), {-128, 5}}, {tensor(DType::i8, {2}), {127, 4}}}).expects({{127, 5}}).exact(),
          sample({{tensor(DType::u8, {1}), {200}}, {tensor(DType::u8, {1}), {100}}}).expects({{200}}).exact(),
          sample({{i64({1}), {-9223372036854775808.0}}, {i64({1}), {9223372036854775807.0}}})
              .expects({{9223372036854775807.0}})
              .exact(),
          sample({f32({2}), f32({3})}).breaking("C1"),
          sample({f32({2}), f64({2})}).breaking("C2"),
          sample({boolean({2}), boolean({2})}).breaking("dtype"),
          sample({c64({2}), c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
