// A composite: its decomposition into primitives is what it means, so that it runs on every device as it is.
#include "phase.hpp"

#include <rlx/ops/build.hpp>

#include <cmath>

namespace phase {

namespace ops = rlx::ops;
using rlx::Answer, rlx::Signature, rlx::Value, rlx::Values, rlx::ValuesIn;
using A = LogCoshAttrs;

constexpr rlx::Operand log_cosh_operands[] = {{"x", {rlx::DType::f32, rlx::DType::f64}}};
constexpr rlx::Constraint<A> log_cosh_constraints[] = {
    {"C1", "scale > 0", [](const A& a, const Signature&) { return Answer(a.scale > 0); }}};

// cosh overflows where its logarithm is about |x|.
static Values log_cosh_decompose(rlx::Builder&, const A& a, ValuesIn in) {
  const Value x = ops::abs(in[0] / a.scale);
  return {(x + ops::log1p(ops::exp(x * -2.0)) - std::log(2.0)) * (a.scale * a.scale)};
}

static Value log_cosh_slope(Value x, double scale) { return ops::tanh(x / scale) * scale; }
static Values log_cosh_vjp(const rlx::VjpCall<A>& c) {
  if (!c.cotangent[0] || !c.wanted[0]) return {Value{}};
  return {c.cotangent[0] * log_cosh_slope(c.in[0], c.attrs.scale)};
}
static Values log_cosh_jvp(const rlx::JvpCall<A>& c) {
  return {c.tangent[0] ? c.tangent[0] * log_cosh_slope(c.in[0], c.attrs.scale) : Value{}};
}
static rlx::Batched log_cosh_batch(const rlx::BatchCall<A>& c) {
  return {{log_cosh(c.in[0], c.attrs.scale)}, {c.axes[0]}};
}

const rlx::OpDef<A> log_cosh_op{
    .name = "phase.log_cosh",
    .doc = "scale^2 log(cosh(x / scale)): half of x^2 near 0, scale |x| far from it.",
    .operands = log_cosh_operands,
    .constraints = log_cosh_constraints,
    .infer = [](const A&, const Signature& s) -> rlx::Types { return {s.types[0]}; },
    .meaning = rlx::Composite<A>{log_cosh_decompose},
    .vjp = rlx::Vjp<A>{log_cosh_vjp},
    .jvp = log_cosh_jvp,
    .batch = log_cosh_batch,
    .shard = rlx::Derived{},
    .cost = rlx::Derived{},
    .samples = []() -> std::vector<rlx::Sample<A>> {
      using rlx::sample, rlx::f64, rlx::f32;
      return {sample<A>({f64({2, 3})}),
              sample<A>({{f64({5}), rlx::Fill::uniform, -9, 9}}, {0.5}),
              sample<A>({{f32({4}), rlx::Fill::uniform, 1e4, 1e5}}),
              sample<A>({{f64({2}), {0, std::log(3.0)}}}).expects({{0, std::log(5.0 / 3.0)}}),  // cosh(log 3) = 5/3
              sample<A>({f64({0})}),
              sample<A>({f64({2})}, {0}).breaking("C1")};
    }};

Value log_cosh(Value x, double scale) { return x.builder->emit1("phase.log_cosh", {x}, LogCoshAttrs{scale}); }

rlx::Tensor log_cosh(const rlx::Tensor& x, double scale, rlx::Here here) {
  rlx::extend_default_catalog("phase", add_to);
  return rlx::Tensor(rlx::call("phase.log_cosh", {x}, LogCoshAttrs{scale}, here)[0]);
}

}  // namespace phase
