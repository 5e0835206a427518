#include "ops/moments.hpp"

namespace rlx::ops {

constexpr Operand logsumexp_operands[] = {{"x", floating}};
constexpr Constraint<MomentAttrs> logsumexp_constraints[] = {
    {"C1", "axes ascend within the rank of x", moment_axes_fit<MomentAttrs>}};

// A maximum that is not finite (nothing to sum, infinite elements) is not subtracted.
static Values logsumexp_decompose(Builder&, const MomentAttrs& a, ValuesIn in) {
  const Value x = widened(in[0]);
  const Value greatest = reduce_max(x, a.axes, true);
  const Value shift = select(is_finite(greatest), greatest, zeros_like(greatest));
  const Value y = add(log(reduce_sum(exp(sub(x, shift)), a.axes, true)), shift);
  return {convert(a.keep ? y : reshape(y, shape_without(y.shape(), a.axes)), in[0].dtype())};
}

extern const OpDef<MomentAttrs> logsumexp_op{
    .name = "logsumexp",
    .doc = "log(sum(exp(x))) over some axes, shifted by the maximum so that exp cannot overflow.",
    .operands = logsumexp_operands,
    .constraints = logsumexp_constraints,
    .infer = moment_infer<MomentAttrs>,
    .meaning = Composite<MomentAttrs>{logsumexp_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = moment_shard<MomentAttrs>,
    .cost = cost_consuming<moment_infer<MomentAttrs>, 13, MomentAttrs>,
    .samples = []() -> std::vector<Sample<MomentAttrs>> {
      return {
          sample<MomentAttrs>({f64({2, 3})}, {{1}}),
          sample<MomentAttrs>({{f32({4, 5}), Fill::uniform, 90, 100}}, {{0, 1}, true}),
          sample<MomentAttrs>({{f32({3}), {0, 0, 0.6931471805599453}}}, {{0}}).expects({{1.3862943611198906}}),
          sample<MomentAttrs>({{f32({2}), {-INFINITY, -INFINITY}}}, {{0}}).expects({{-INFINITY}}).without_gradients(),
          sample<MomentAttrs>({{f32({2}), {INFINITY, 1}}}, {{0}}).expects({{INFINITY}}).without_gradients(),
          sample<MomentAttrs>({f32({0})}, {{0}}).expects({{-INFINITY}}).without_gradients(),
          sample<MomentAttrs>({f16({3})}, {{0}}),
          sample<MomentAttrs>({f64({1})}, {{0}}),
          sample<MomentAttrs>({f32({2})}, {{1}}).breaking("C1")};
    }};

}  // namespace rlx::ops
