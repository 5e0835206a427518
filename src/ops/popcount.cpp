#include "ops/elementwise.hpp"

#include <bit>

namespace rlx::ops {

constexpr Operand popcount_operands[] = {{"x", integers}};

extern const OpDef<NoAttributes> popcount_op{
    .name = "popcount",
    .doc = "Number of bits that are 1.",
    .operands = popcount_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_bits<1>(c, [](int, std::uint64_t x) { return static_cast<std::uint64_t>(std::popcount(x)); });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<4>,
    .samples = []() -> Samples {
      return {sample({{i32({2, 3}), Fill::uniform, -100, 100}}),
              sample({{tensor(DType::i8, {5}), {0, -1, 5, -128, 127}}}).expects({{0, 8, 2, 1, 7}}).exact(),
              sample({{tensor(DType::u64, {2}), {0, 18446744073709551615.0}}}).expects({{0, 64}}).exact(),
              sample({{tensor(DType::i64, {2}), {-1, 255}}}).expects({{64, 8}}).exact(),
              sample({f32({2})}).breaking("dtype"),
              sample({boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
