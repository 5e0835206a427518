#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand expm1_operands[] = {{"x", floating | complex_types}};

static double expm1_of(double x) { return std::expm1(x); }
/// exp(a + ib) - 1 = (expm1(a) cos b - 2 sin^2(b / 2)) + i exp(a) sin b.
static std::complex<double> expm1_of(std::complex<double> z) {
  if (!std::isfinite(z.real()) || !std::isfinite(z.imag())) return std::exp(z) - 1.0;
  const double half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, std::exp(z.real()) * std::sin(z.imag())};
}

// Not y + 1, which loses all digits where x is far below 0.
static Value expm1_derivative(Value x, Value) { return exp(x); }

extern const OpDef<NoAttributes> expm1_op{
    .name = "expm1",
    .doc = "exp(x) - 1 without cancellation near 0.",
    .operands = expm1_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](auto x) { return expm1_of(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<expm1_derivative>},
    .jvp = unary_jvp<expm1_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<12>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -1, 1}}),
              sample({{f32({17}), Fill::uniform, -1, 1}}),
              sample({{f16({5}), Fill::uniform, -1, 1}}),
              sample({{bf16({5}), Fill::uniform, -1, 1}}),
              sample({c128({4})}),
              sample({c64({3})}),
              sample({{f64({2}), {1e-10, -1e-20}}}).expects({{1.00000000005e-10, -1e-20}}),
              sample({{f64({2}), {0.6931471805599453, 1}}}).expects({{1, 1.718281828459045}}),
              sample({{f32({5}), {-0.0, -200, 100, NAN, -INFINITY}}})
                  .expects({{-0.0, -1, INFINITY, NAN, -1}})
                  .exact()
                  .without_gradients(),
              sample({{c128({2}), {0, 3.141592653589793, 0.5, 1}}})
                  .expects({{-2, 1.2246467991473532e-16, -0.10919209570687138, 1.3873511113297634}}),
              sample({i32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
