#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand shift_left_operands[] = {{"x", integers}, {"y", integers}};

extern const OpDef<NoAttributes> shift_left_op{
    .name = "shift_left",
    .doc = "x with its bits moved up by y places; 0 where y, read as unsigned, is not below the width.",
    .operands = shift_left_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_bits<2>(c,
                         [](std::uint64_t width, std::uint64_t x, std::uint64_t y) { return y < width ? x << y : 0; });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({{i32({2, 3}), Fill::uniform, -100, 100}, {i32({2, 3}), Fill::uniform, 0, 31}}),
              sample({{i32({5}), {1, 1, 1, -1, 3}}, {i32({5}), {31, 32, -1, 4, 0}}})
                  .expects({{-2147483648, 0, 0, -16, 3}})
                  .exact(),
              sample({{tensor(DType::u8, {3}), {255, 1, 1}}, {tensor(DType::u8, {3}), {4, 7, 8}}})
                  .expects({{240, 128, 0}})
                  .exact(),
              sample({{i64({2}), {1, 1}}, {i64({2}), {63, 64}}}).expects({{-9223372036854775808.0, 0}}).exact(),
              sample({i32({2}), i32({3})}).breaking("C1"),
              sample({i32({2}), i64({2})}).breaking("C2"),
              sample({f32({2}), f32({2})}).breaking("dtype"),
              sample({boolean({2}), boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
