#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand shift_right_logical_operands[] = {{"x", integers}, {"y", integers}};

extern const OpDef<NoAttributes> shift_right_logical_op{
    .name = "shift_right_logical",
    .doc =
        "x with its bits moved down by y places, zeros from above; 0 where y, read as unsigned, is not below the "
        "width.",
    .operands = shift_right_logical_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_bits<2>(c,
                         [](std::uint64_t width, std::uint64_t x, std::uint64_t y) { return y < width ? x >> y : 0; });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({{i32({2, 3}), Fill::uniform, -100, 100}, {i32({2, 3}), Fill::uniform, 0, 31}}),
              sample({{i32({4}), {-1, -1, -1, 12}}, {i32({4}), {31, 32, -1, 2}}}).expects({{1, 0, 0, 3}}).exact(),
              sample({{tensor(DType::u8, {3}), {255, 128, 1}}, {tensor(DType::u8, {3}), {4, 7, 8}}})
                  .expects({{15, 1, 0}})
                  .exact(),
              sample({{tensor(DType::i8, {1}), {-128}}, {tensor(DType::i8, {1}), {1}}}).expects({{64}}).exact(),
              sample({{i64({2}), {-1, -1}}, {i64({2}), {63, 64}}}).expects({{1, 0}}).exact(),
              sample({i32({2}), i32({3})}).breaking("C1"),
              sample({i32({2}), i64({2})}).breaking("C2"),
              sample({f32({2}), f32({2})}).breaking("dtype"),
              sample({boolean({2}), boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
