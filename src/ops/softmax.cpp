#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand softmax_operands[] = {{"x", floating}};
constexpr Constraint<AxisAttrs> softmax_constraints[] = {
    {"C1", "0 <= axis < rank(x)",
     [](const AxisAttrs& a, const Signature& s) { return axis_within(a.axis, s.rank(0)); }},
    {"C2", "the dimension is not empty",
     [](const AxisAttrs& a, const Signature& s) { return s.less_equal(1, s.tensor(0).dim(a.axis)); }}};

// f16 and bf16 are computed in f32 and rounded once.
static Values softmax_decompose(Builder&, const AxisAttrs& a, ValuesIn in) {
  const Value x = widened(in[0]);
  const Value e = exp(sub(x, reduce_max(x, {a.axis}, true)));
  return {convert(div(e, reduce_sum(e, {a.axis}, true)), in[0].dtype())};
}

// Both derivatives apply the same symmetric Jacobian: y * (t - sum(t * y)).
static Value softmax_jacobian(Value y, Value t, int axis) {
  return mul(y, sub(t, reduce_sum(mul(t, y), {axis}, true)));
}
static Values softmax_vjp(const VjpCall<AxisAttrs>& c) {
  return {softmax_jacobian(c.out[0], c.cotangent[0], c.attrs.axis)};
}
static Values softmax_jvp(const JvpCall<AxisAttrs>& c) {
  return {c.tangent[0] ? softmax_jacobian(c.out[0], c.tangent[0], c.attrs.axis) : Value{}};
}
static Batched softmax_batch(const BatchCall<AxisAttrs>& c) {
  const int at = c.axes[0], axis = c.attrs.axis;
  return {{softmax(c.in[0], axis + (at <= axis))}, {at}};
}
static ShardRule softmax_shard(const AxisAttrs& a, const Signature& s) {
  return shard_positions(s, infer_first<AxisAttrs>(a, s), {a.axis});
}

extern const OpDef<AxisAttrs> softmax_op{
    .name = "softmax",
    .doc = "exp(x) / sum(exp(x)) along one axis, shifted by the maximum so that exp cannot overflow.",
    .operands = softmax_operands,
    .constraints = softmax_constraints,
    .infer = infer_first<AxisAttrs>,
    .meaning = Composite<AxisAttrs>{softmax_decompose},
    .vjp = Vjp<AxisAttrs>{softmax_vjp},
    .jvp = softmax_jvp,
    .batch = softmax_batch,
    .shard = softmax_shard,
    .cost = cost_elementwise<14, AxisAttrs>,
    .samples = []() -> std::vector<Sample<AxisAttrs>> {
      return {sample<AxisAttrs>({f64({2, 3})}, {1}),
              sample<AxisAttrs>({{f32({4, 5}), Fill::uniform, 90, 100}}, {0}),
              sample<AxisAttrs>({f16({3, 4})}, {1}),
              sample<AxisAttrs>({{f32({1, 2}), {0, 1.0986122886681098}}}, {1}).expects({{0.25, 0.75}}),
              sample<AxisAttrs>({{f32({2}), {-INFINITY, 1}}}, {0}).expects({{0, 1}}).without_gradients(),
              sample<AxisAttrs>({f64({1})}),
              sample<AxisAttrs>({f64({0, 2})}, {1}),
              sample<AxisAttrs>({f32({2})}, {1}).breaking("C1"),
              sample<AxisAttrs>({f32({0, 3})}).breaking("C2")};
    }};

}  // namespace rlx::ops
