#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand conj_operands[] = {{"x", complex_types}};

// Conjugation is linear over the reals only, and its own transpose there.
static Values conj_vjp(const VjpCall<NoAttributes>& c) { return {pulls(c, 0) ? conj(c.cotangent[0]) : Value{}}; }
static Values conj_jvp(const JvpCall<NoAttributes>& c) { return {c.tangent[0] ? conj(c.tangent[0]) : Value{}}; }

extern const OpDef<NoAttributes> conj_op{
    .name = "conj",
    .doc = "Complex conjugate.",
    .operands = conj_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_unary(c, [](std::complex<double> x) { return std::conj(x); });
    }},
    .vjp = Vjp<NoAttributes>{conj_vjp},
    .jvp = conj_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<1>,
    .samples = []() -> Samples {
      return {sample({c128({2, 3})}), sample({c64({5})}),
              sample({{c64({3}), {1, 2, -3, -0.0, INFINITY, 0}}}).expects({{1, -2, -3, 0, INFINITY, -0.0}}).exact(),
              sample({f32({2})}).breaking("dtype"), sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
