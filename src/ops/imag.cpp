#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand imag_operands[] = {{"x", complex_types}};

static Values imag_vjp(const VjpCall<NoAttributes>& c) {
  if (!pulls(c, 0)) return {Value{}};
  const Value t = c.cotangent[0];
  return {complex(zeros_like(t), t)};
}
static Values imag_jvp(const JvpCall<NoAttributes>& c) { return {c.tangent[0] ? imag(c.tangent[0]) : Value{}}; }

extern const OpDef<NoAttributes> imag_op{
    .name = "imag",
    .doc = "Imaginary part.",
    .operands = imag_operands,
    .constraints = {},
    .infer = infer_real<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_unary(c, [](std::complex<double> x) { return x.imag(); });
    }},
    .vjp = Vjp<NoAttributes>{imag_vjp},
    .jvp = imag_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_real<0>,
    .samples = []() -> Samples {
      return {sample({c128({2, 3})}),
              sample({c64({5})}),
              sample({{c64({2}), {1, 2, -3, -0.0}}}).expects({{2, -0.0}}).exact(),
              sample({{c128({1}), {INFINITY, NAN}}}).expects({{NAN}}).exact().without_gradients(),
              sample({f32({2})}).breaking("dtype"),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
