#include "ops/moments.hpp"

namespace rlx::ops {

constexpr Operand mean_operands[] = {{"x", floating | complex_types}};
constexpr Constraint<MomentAttrs> mean_constraints[] = {
    {"C1", "axes ascend within the rank of x", moment_axes_fit<MomentAttrs>}};

static Values mean_decompose(Builder&, const MomentAttrs& a, ValuesIn in) {
  const DType t = in[0].dtype(), wide = default_accumulator(t);
  return {convert(divide_by(reduce_sum(in[0], a.axes, a.keep, wide), count_along(in[0], a.axes, wide)), t)};
}

extern const OpDef<MomentAttrs> mean_op{
    .name = "mean",
    .doc = "Arithmetic mean over some axes; NaN of nothing.",
    .operands = mean_operands,
    .constraints = mean_constraints,
    .infer = moment_infer<MomentAttrs>,
    .meaning = Composite<MomentAttrs>{mean_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = moment_shard<MomentAttrs>,
    .cost = cost_consuming<moment_infer<MomentAttrs>, 1, MomentAttrs>,
    .samples = []() -> std::vector<Sample<MomentAttrs>> {
      return {sample<MomentAttrs>({f64({2, 3, 4})}, {{0, 2}}),
              sample<MomentAttrs>({{f32({2, 2}), {1, 2, 3, 6}}}, {{1}, true}).expects({{1.5, 4.5}}).exact(),
              sample<MomentAttrs>({{c64({2}), {1, 2, 3, -4}}}, {{0}}).expects({{2, -1}}).exact(),
              sample<MomentAttrs>({f16({300})}, {{0}}),
              sample<MomentAttrs>({f32({0})}, {{0}}).expects({{NAN}}).without_gradients(),
              sample<MomentAttrs>({f64({2})}),
              sample<MomentAttrs>({f64({1})}, {{0}}),
              sample<MomentAttrs>({f32({2, 2})}, {{1, 0}}).breaking("C1")};
    }};

}  // namespace rlx::ops
