#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand exp_operands[] = {{"x", floating | complex_types}};

static Value exp_derivative(Value, Value y) { return y; }

extern const OpDef<NoAttributes> exp_op{
    .name = "exp",
    .doc = "e to the x.",
    .operands = exp_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return std::exp(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<exp_derivative>},
    .jvp = unary_jvp<exp_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<10>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -1, 1}}),
              sample({{f32({17}), Fill::uniform, -1, 1}}),
              sample({{f16({5}), Fill::uniform, -1, 1}}),
              sample({{bf16({5}), Fill::uniform, -1, 1}}),
              sample({c128({4})}),
              sample({c64({3})}),
              sample({f64({})}),
              sample({{f64({3}), {0, 1, -1}}}).expects({{1, 2.718281828459045, 0.36787944117144233}}),
              sample({{f32({5}), {-200, 89, NAN, INFINITY, -INFINITY}}}).expects({{0, INFINITY, NAN, INFINITY, 0}}),
              sample({{f16({2}), {0, 12}}}).expects({{1, INFINITY}}),
              sample({{c128({2}), {0, 3.141592653589793, 1, 1}}})
                  .expects({{-1, 1.2246467991473532e-16, 1.4686939399158851, 2.2873552871788424}}),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
