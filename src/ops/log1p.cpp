#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand log1p_operands[] = {{"x", floating | complex_types}};

static double log1p_of(double x) { return std::log1p(x); }
/// Re log(1 + z) = log1p(|1 + z|^2 - 1) / 2, and |1 + z|^2 - 1 = a (2 + a) + b^2 cancels only where |z| is not small.
static std::complex<double> log1p_of(std::complex<double> z) {
  const double a = z.real(), b = z.imag();
  const double modulus = std::abs(z) < 0.5 ? 0.5 * std::log1p(a * (2 + a) + b * b) : std::log(std::hypot(1 + a, b));
  return {modulus, std::atan2(b, 1 + a)};
}

static Value log1p_derivative(Value x, Value) { return 1.0 / (x + 1.0); }

extern const OpDef<NoAttributes> log1p_op{
    .name = "log1p",
    .doc = "log(1 + x) without cancellation near 0.",
    .operands = log1p_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return log1p_of(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<log1p_derivative>},
    .jvp = unary_jvp<log1p_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<12>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -0.5, 2}}),
              sample({{f32({17}), Fill::uniform, -0.5, 2}}),
              sample({{f16({5}), Fill::uniform, -0.5, 2}}),
              sample({{bf16({5}), Fill::uniform, -0.5, 2}}),
              sample({{c128({4}), Fill::uniform, -0.5, 1}}),
              sample({{c64({3}), Fill::uniform, -0.5, 1}}),
              sample({{f64({2}), {1e-10, -1e-20}}}).expects({{9.9999999995e-11, -1e-20}}),
              sample({{f64({2}), {1, 9}}}).expects({{0.6931471805599453, 2.302585092994046}}),
              sample({{f32({5}), {-0.0, -1, -2, INFINITY, NAN}}})
                  .expects({{-0.0, -INFINITY, NAN, INFINITY, NAN}})
                  .exact()
                  .without_gradients(),
              sample({{c128({2}), {-1, 1, 0.5, 1}}})
                  .expects({{0, 1.5707963267948966, 0.589327498170823, 0.5880026035475675}}),
              sample({{c128({1}), {1e-10, 1e-10}}}).expects({{1e-10, 9.999999999e-11}}),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
