#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand lgamma_operands[] = {{"x", floating}};

static Value lgamma_derivative(Value x, Value) { return digamma(x); }

extern const OpDef<NoAttributes> lgamma_op{
    .name = "lgamma",
    .doc = "log |Gamma(x)|; infinite at 0, -1, -2, ...",
    .operands = lgamma_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return std::lgamma(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<lgamma_derivative>},
    .jvp = unary_jvp<lgamma_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<40>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, 0.3, 5}}),
              sample({{f32({17}), Fill::uniform, 0.3, 5}}),
              sample({{f16({5}), Fill::uniform, 0.3, 5}}),
              sample({{bf16({5}), Fill::uniform, 0.3, 5}}),
              sample({{f64({3}), Fill::uniform, -0.8, -0.2}}),
              sample({{f64({5}), {0.5, 10, -0.5, 1.5, 2.5}}})
                  .expects({{0.5723649429247001, 12.801827480081469, 1.2655121234846454, -0.12078223763524522,
                             0.2846828704729192}}),
              sample({{f64({2}), {1, 2}}}).expects({{0, 0}}).exact(),
              sample({{f64({1}), {-2.5}}})
                  .expects({{-0.056243716497674054}})
                  .within(1e-14),  // Near a zero: absolute accuracy only.
              sample({{f64({2}), {100, 1e-5}}}).expects({{359.1342053695754, 11.512919692895826}}).without_gradients(),
              sample({{f32({5}), {0, -0.0, -1, INFINITY, NAN}}})
                  .expects({{INFINITY, INFINITY, INFINITY, INFINITY, NAN}})
                  .exact()
                  .without_gradients(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
