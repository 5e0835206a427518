#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand neg_operands[] = {{"x", numbers}};

static Values neg_vjp(const VjpCall<NoAttributes>& c) { return {pulls(c, 0) ? -c.cotangent[0] : Value{}}; }
static Values neg_jvp(const JvpCall<NoAttributes>& c) { return {c.tangent[0] ? -c.tangent[0] : Value{}}; }

extern const OpDef<NoAttributes> neg_op{
    .name = "neg",
    .doc = "-x; integers wrap.",
    .operands = neg_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_unary(c, wrapping([](auto x) { return static_cast<decltype(x)>(-x); }));
    }},
    .vjp = Vjp<NoAttributes>{neg_vjp},
    .jvp = neg_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({f64({2, 3})}),
              sample({f32({17})}),
              sample({f16({5})}),
              sample({bf16({5})}),
              sample({c128({4})}),
              sample({{i32({2, 3}), Fill::uniform, -100, 100}}),
              sample({{f32({5}), {1.5, 0, -0.0, INFINITY, NAN}}}).expects({{-1.5, -0.0, 0, -INFINITY, NAN}}).exact(),
              sample({{tensor(DType::i8, {3}), {-128, 127, 0}}}).expects({{-128, -127, 0}}).exact(),
              sample({{tensor(DType::u8, {2}), {1, 0}}}).expects({{255, 0}}).exact(),
              sample({{i64({2}), {-9223372036854775808.0, 5}}}).expects({{-9223372036854775808.0, -5}}).exact(),
              sample({{c64({1}), {1, -2}}}).expects({{-1, 2}}).exact(),
              sample({boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
