#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand stop_gradient_operands[] = {{"x", storable}};

extern const OpDef<NoAttributes> stop_gradient_op{
    .name = "stop_gradient",
    .doc = "x itself, held fixed by differentiation: its tangent and its cotangent are zero.",
    .operands = stop_gradient_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Composite<NoAttributes>{[](Builder&, const NoAttributes&, ValuesIn in) { return Values{in[0]}; }},
    .vjp = Vjp<NoAttributes>{zero_vjp<>},
    .jvp = zero_jvp<>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = [](const NoAttributes&, const Signature&) { return Cost{0, 0}; },
    .samples = []() -> Samples {
      // No gradients where differences would see the identity.
      return {sample({f64({2, 3})}).exact().without_gradients(),
              sample({{f32({2}), {1.5, -0.0}}}).expects({{1.5, -0.0}}).exact().without_gradients(),
              sample({{tensor(DType::i4, {3}), {1, -2, 3}}}).expects({{1, -2, 3}}).exact(),
              sample({{c64({1}), {1, -2}}}).expects({{1, -2}}).exact().without_gradients(),
              sample({SampleOperand(Type(TokenType{}), Fill::uniform)}).breaking("kind")};
    }};

}  // namespace rlx::ops
