#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand real_operands[] = {{"x", complex_types}};

static Values real_vjp(const VjpCall<NoAttributes>& c) {
  if (!pulls(c, 0)) return {Value{}};
  const Value t = c.cotangent[0];
  return {complex(t, zeros_like(t))};
}
static Values real_jvp(const JvpCall<NoAttributes>& c) { return {c.tangent[0] ? real(c.tangent[0]) : Value{}}; }

extern const OpDef<NoAttributes> real_op{
    .name = "real",
    .doc = "Real part.",
    .operands = real_operands,
    .constraints = {},
    .infer = infer_real<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_unary(c, [](std::complex<double> x) { return x.real(); });
    }},
    .vjp = Vjp<NoAttributes>{real_vjp},
    .jvp = real_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_real<0>,
    .samples = []() -> Samples {
      return {sample({c128({2, 3})}),
              sample({c64({5})}),
              sample({{c64({2}), {1, 2, -3, -0.0}}}).expects({{1, -3}}).exact(),
              sample({{c128({1}), {INFINITY, NAN}}}).expects({{INFINITY}}).exact().without_gradients(),
              sample({f32({2})}).breaking("dtype"),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
