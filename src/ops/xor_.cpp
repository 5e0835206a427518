#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand xor_operands[] = {{"x", integers | DTypeSet{DType::boolean}},
                                    {"y", integers | DTypeSet{DType::boolean}}};

extern const OpDef<NoAttributes> xor_op{
    .name = "xor",
    .doc = "Bitwise exclusive or; of bool, whether just one is true.",
    .operands = xor_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_bits<2>(c, [](int, std::uint64_t x, std::uint64_t y) { return x ^ y; });
    }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({{i32({2, 3}), Fill::uniform, -100, 100}, {i32({2, 3}), Fill::uniform, -100, 100}}),
              sample({{boolean({4}), {0, 0, 1, 1}}, {boolean({4}), {0, 1, 0, 1}}}).expects({{0, 1, 1, 0}}).exact(),
              sample({{tensor(DType::i8, {3}), {6, -128, 3}}, {tensor(DType::i8, {3}), {5, -1, -1}}})
                  .expects({{3, 127, -4}})
                  .exact(),
              sample({{tensor(DType::u16, {1}), {65280}}, {tensor(DType::u16, {1}), {255}}}).expects({{65535}}).exact(),
              sample({i32({2}), i32({3})}).breaking("C1"),
              sample({i32({2}), i64({2})}).breaking("C2"),
              sample({f32({2}), f32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
