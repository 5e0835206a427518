#include "ops/moments.hpp"

namespace rlx::ops {

constexpr Operand var_operands[] = {{"x", floating}};
constexpr Constraint<VarAttrs> var_constraints[] = {
    {"C1", "axes ascend within the rank of x", moment_axes_fit<VarAttrs>}};

// In two passes: deviations first, so that a large mean cancels before squaring.
static Values var_decompose(Builder& b, const VarAttrs& a, ValuesIn in) {
  const Value x = widened(in[0]), n = count_along(x, a.axes, x.dtype());
  const Value d = sub(x, divide_by(reduce_sum(x, a.axes, true), n));
  const Value degrees = a.correction == 0 ? n : sub(n, scalar(b, x.dtype(), static_cast<double>(a.correction)));
  return {convert(divide_by(reduce_sum(mul(d, d), a.axes, a.keep), degrees), in[0].dtype())};
}

extern const OpDef<VarAttrs> var_op{
    .name = "var",
    .doc = "Variance over some axes: mean square deviation from the mean.",
    .operands = var_operands,
    .constraints = var_constraints,
    .infer = moment_infer<VarAttrs>,
    .meaning = Composite<VarAttrs>{var_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = moment_shard<VarAttrs>,
    .cost = cost_consuming<moment_infer<VarAttrs>, 4, VarAttrs>,
    .samples = []() -> std::vector<Sample<VarAttrs>> {
      return {sample<VarAttrs>({f64({2, 3, 4})}, {{0, 2}}),
              sample<VarAttrs>({{f32({2, 2}), {1, 3, 2, 6}}}, {{1}, true}).expects({{1, 4}}).exact(),
              sample<VarAttrs>({{f32({3}), {10001, 10002, 10003}}}, {{0}, false, 1}).expects({{1}}).exact(),
              sample<VarAttrs>({f16({30})}, {{0}}),
              sample<VarAttrs>({f64({1})}, {{0}}).expects({{0}}).exact(),
              sample<VarAttrs>({f32({0})}, {{0}}).expects({{NAN}}).without_gradients(),
              sample<VarAttrs>({f32({2})}, {{1}}).breaking("C1")};
    }};

}  // namespace rlx::ops
