#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand not_operands[] = {{"x", integers | DTypeSet{DType::boolean}}};

extern const OpDef<NoAttributes> not_op{
    .name = "not",
    .doc = "Every bit inverted; of bool, whether x is false.",
    .operands = not_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_bits<1>(c, [](int, std::uint64_t x) { return ~x; });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({{i32({2, 3}), Fill::uniform, -100, 100}}),
              sample({{boolean({2}), {0, 1}}}).expects({{1, 0}}).exact(),
              sample({{tensor(DType::i8, {4}), {0, -1, 5, -128}}}).expects({{-1, 0, -6, 127}}).exact(),
              sample({{tensor(DType::u16, {2}), {0, 255}}}).expects({{65535, 65280}}).exact(),
              sample({f32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
