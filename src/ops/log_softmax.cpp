#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand log_softmax_operands[] = {{"x", floating}};
constexpr Constraint<AxisAttrs> log_softmax_constraints[] = {
    {"C1", "0 <= axis < rank(x)",
     [](const AxisAttrs& a, const Signature& s) { return axis_within(a.axis, s.rank(0)); }},
    {"C2", "the dimension is not empty",
     [](const AxisAttrs& a, const Signature& s) { return s.less_equal(1, s.tensor(0).dim(a.axis)); }}};

static Values log_softmax_decompose(Builder&, const AxisAttrs& a, ValuesIn in) {
  const Value x = widened(in[0]);
  const Value d = sub(x, reduce_max(x, {a.axis}, true));
  return {convert(sub(d, log(reduce_sum(exp(d), {a.axis}, true))), in[0].dtype())};
}

// dy = dx - sum(softmax * dx); transposed, each element gets its cotangent less softmax times their sum.
static Values log_softmax_vjp(const VjpCall<AxisAttrs>& c) {
  const Value t = c.cotangent[0];
  return {sub(t, mul(exp(c.out[0]), reduce_sum(t, {c.attrs.axis}, true)))};
}
static Values log_softmax_jvp(const JvpCall<AxisAttrs>& c) {
  const Value t = c.tangent[0];
  return {t ? sub(t, reduce_sum(mul(exp(c.out[0]), t), {c.attrs.axis}, true)) : t};
}
static Batched log_softmax_batch(const BatchCall<AxisAttrs>& c) {
  const int at = c.axes[0], axis = c.attrs.axis;
  return {{log_softmax(c.in[0], axis + (at <= axis))}, {at}};
}
static ShardRule log_softmax_shard(const AxisAttrs& a, const Signature& s) {
  return shard_positions(s, infer_first<AxisAttrs>(a, s), {a.axis});
}

extern const OpDef<AxisAttrs> log_softmax_op{.name = "log_softmax",
                                             .doc = "x - log(sum(exp(x))) along one axis, shifted by the maximum.",
                                             .operands = log_softmax_operands,
                                             .constraints = log_softmax_constraints,
                                             .infer = infer_first<AxisAttrs>,
                                             .meaning = Composite<AxisAttrs>{log_softmax_decompose},
                                             .vjp = Vjp<AxisAttrs>{log_softmax_vjp},
                                             .jvp = log_softmax_jvp,
                                             .batch = log_softmax_batch,
                                             .shard = log_softmax_shard,
                                             .cost = cost_elementwise<14, AxisAttrs>,
                                             .samples = []() -> std::vector<Sample<AxisAttrs>> {
                                               return {sample<AxisAttrs>({f64({2, 3})}, {1}),
                                                       sample<AxisAttrs>({{f32({4, 5}), Fill::uniform, 90, 100}}, {0}),
                                                       sample<AxisAttrs>({bf16({3, 4})}, {1}),
                                                       sample<AxisAttrs>({{f32({2}), {0, 1.0986122886681098}}})
                                                           .expects({{-1.3862943611198906, -0.2876820724517809}}),
                                                       sample<AxisAttrs>({f64({1})}).expects({{0}}),
                                                       sample<AxisAttrs>({f64({0, 2})}, {1}),
                                                       sample<AxisAttrs>({f32({2})}, {1}).breaking("C1"),
                                                       sample<AxisAttrs>({f32({0, 3})}).breaking("C2")};
                                             }};

}  // namespace rlx::ops
