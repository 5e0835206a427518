#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand log_operands[] = {{"x", floating | complex_types}};

static Value log_derivative(Value x, Value) { return 1.0 / x; }

extern const OpDef<NoAttributes> log_op{
    .name = "log",
    .doc = "Natural logarithm; of a complex number the principal branch, imaginary part in [-pi, pi].",
    .operands = log_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return std::log(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<log_derivative>},
    .jvp = unary_jvp<log_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<10>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, 0.2, 3}}),
              sample({{f32({17}), Fill::uniform, 0.2, 3}}),
              sample({{f16({5}), Fill::uniform, 0.2, 3}}),
              sample({{bf16({5}), Fill::uniform, 0.2, 3}}),
              sample({{c128({4}), Fill::uniform, 0.2, 2}}),
              sample({{c64({3}), Fill::uniform, 0.2, 2}}),
              sample({{f64({3}), {1, 2, 10}}}).expects({{0, 0.6931471805599453, 2.302585092994046}}),
              sample({{f32({5}), {0, -0.0, -1, INFINITY, NAN}}})
                  .expects({{-INFINITY, -INFINITY, NAN, INFINITY, NAN}})
                  .without_gradients(),
              sample({{c128({3}), {0, 1, -1, 0, 3, 4}}})
                  .expects({{0, 1.5707963267948966, 0, 3.141592653589793, 1.6094379124341003, 0.9272952180016122}})
                  .without_gradients(),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
