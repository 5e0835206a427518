#include "ops/elementwise.hpp"

#include <bit>

namespace rlx::ops {

constexpr Operand clz_operands[] = {{"x", integers}};

extern const OpDef<NoAttributes> clz_op{
    .name = "clz",
    .doc = "Number of 0 bits above the highest 1; the width where x is 0.",
    .operands = clz_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_bits<1>(
          c, [](int width, std::uint64_t x) { return static_cast<std::uint64_t>(std::countl_zero(x) - (64 - width)); });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<4>,
    .samples = []() -> Samples {
      return {sample({{i32({2, 3}), Fill::uniform, -100, 100}}),
              sample({{tensor(DType::i8, {4}), {0, 1, -1, 127}}}).expects({{8, 7, 0, 1}}).exact(),
              sample({{tensor(DType::u16, {2}), {0, 256}}}).expects({{16, 7}}).exact(),
              sample({{tensor(DType::i64, {2}), {0, 1}}}).expects({{64, 63}}).exact(),
              sample({f32({2})}).breaking("dtype"),
              sample({boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
