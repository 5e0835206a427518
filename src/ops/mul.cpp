#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand mul_operands[] = {{"x", numbers}, {"y", numbers}};

static Value mul_dx(Value, Value y, Value) { return y; }
static Value mul_dy(Value x, Value, Value) { return x; }

extern const OpDef<NoAttributes> mul_op{
    .name = "mul",
    .doc = "x * y; integers wrap.",
    .operands = mul_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_binary(c, wrapping([](auto x, auto y) { return x * y; }));
    }},
    .vjp = Vjp<NoAttributes>{binary_vjp<mul_dx, mul_dy>},
    .jvp = binary_jvp<mul_dx, mul_dy>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({f64({3, 5}), f64({3, 5})}),
              sample({f64({}), f64({})}),
              sample({f64({0, 3}), f64({0, 3})}),
              sample({f32({17}), f32({17})}),
              sample({f16({5}), f16({5})}),
              sample({bf16({5}), bf16({5})}),
              sample({c128({4}), c128({4})}),
              sample({c64({3}), c64({3})}),
              sample({{i32({2, 3}), Fill::uniform, -100, 100}, {i32({2, 3}), Fill::uniform, -100, 100}}),
              sample({{f32({3}), {1, -2, 0.5}}, {f32({3}), {2, -2, 0.25}}}).expects({{2, 4, 0.125}}).exact(),
              sample({{f32({4}), {-0.0, INFINITY, NAN, 1e30}}, {f32({4}), {3, 0, 1, 1e30}}})
                  .expects({{-0.0, NAN, NAN, INFINITY}})
                  .exact(),
              sample({{tensor(DType::i8, {2}), {-128, 16}}, {tensor(DType::i8, {2}), {-1, 17}}})
                  .expects({{-128, 16}})
                  .exact(),
              sample({{i64({2}), {-9223372036854775808.0, 4294967296}}, {i64({2}), {-1, 4294967297}}})
                  .expects({{-9223372036854775808.0, 4294967296}})
                  .exact(),
              sample({{tensor(DType::u8, {1}), {16}}, {tensor(DType::u8, {1}), {17}}}).expects({{16}}).exact(),
              sample({{c64({1}), {1, 2}}, {c64({1}), {-3, 0.5}}}).expects({{-4, -5.5}}).exact(),
              sample({f32({2}), f32({3})}).breaking("C1"),
              sample({f32({2}), f64({2})}).breaking("C2"),
              sample({boolean({2}), boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
