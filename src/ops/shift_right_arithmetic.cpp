#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand shift_right_arithmetic_operands[] = {{"x", integers}, {"y", integers}};

extern const OpDef<NoAttributes> shift_right_arithmetic_op{
    .name = "shift_right_arithmetic",
    .doc =
        "x with its bits moved down by y places, the highest bit repeated; "
        "nothing else where y, read as unsigned, is not below the width.",
    .operands = shift_right_arithmetic_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_bits<2>(c, [](std::uint64_t width, std::uint64_t x, std::uint64_t y) {
        const bool negative = x >> (width - 1);
        const std::uint64_t ones = negative ? ~std::uint64_t{0} : 0;
        if (y >= width) return ones;
        return x >> y | (negative && y ? ones << (width - y) : 0);
      });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({{i32({2, 3}), Fill::uniform, -100, 100}, {i32({2, 3}), Fill::uniform, 0, 31}}),
              sample({{i32({6}), {-1, -16, -16, 12, -5, 7}}, {i32({6}), {31, 2, -1, 2, 0, 32}}})
                  .expects({{-1, -4, -1, 3, -5, 0}})
                  .exact(),
              sample({{tensor(DType::u8, {3}), {255, 128, 1}}, {tensor(DType::u8, {3}), {4, 7, 8}}})
                  .expects({{255, 255, 0}})
                  .exact(),
              sample({{i64({2}), {-9223372036854775808.0, 8}}, {i64({2}), {63, 1}}}).expects({{-1, 4}}).exact(),
              sample({i32({2}), i32({3})}).breaking("C1"),
              sample({i32({2}), i64({2})}).breaking("C2"),
              sample({f32({2}), f32({2})}).breaking("dtype"),
              sample({boolean({2}), boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
