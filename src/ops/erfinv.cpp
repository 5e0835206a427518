#include "ops/elementwise.hpp"

#include <numbers>

namespace rlx::ops {

constexpr Operand erfinv_operands[] = {{"x", floating}};

/// A first value by M. Giles, "Approximating the erfinv function", GPU Computing Gems (2011), accurate to float where
/// float has numbers, or from erfc(y) ~ exp(-y^2) / (y sqrt(pi)). Then Halley's iteration, which triples the digits, on
/// erf(y) = x, whose second derivative is -2 y times the first.
static double erfinv_of(double x) {
  constexpr double inv_sqrtpi = std::numbers::inv_sqrtpi;
  constexpr double central[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                             -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const double magnitude = std::fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? std::copysign(INFINITY, x) : NAN;
  if (magnitude < 1e-10) return x * (0.5 / inv_sqrtpi);  // what follows is of order x^3
  const double rest = 1 - magnitude;                     // exact in the outer half, where it matters
  const double w = -std::log1p(-x * x);
  double y = 0;
  if (w < 16) {
    const double at = w < 5 ? w - 2.5 : std::sqrt(w) - 3;
    for (double coefficient : w < 5 ? central : tail) y = y * at + coefficient;
    y *= magnitude;
  } else {
    y = std::sqrt(-std::log(rest * std::sqrt(-std::log(rest)) / inv_sqrtpi));
  }
  for (int i = 0; i < 3; ++i) {
    // erfc keeps the digits in the outer half that erf has lost.
    const double miss = magnitude > 0.5 ? rest - std::erfc(y) : std::erf(y) - magnitude;
    const double step = miss / (2 * inv_sqrtpi * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

static Value erfinv_derivative(Value, Value y) { return 0.5 / std::numbers::inv_sqrtpi * exp(y * y); }

extern const OpDef<NoAttributes> erfinv_op{
    .name = "erfinv",
    .doc = "Inverse of erf on (-1, 1); infinite at the ends, NaN outside.",
    .operands = erfinv_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return erfinv_of(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<erfinv_derivative>},
    .jvp = unary_jvp<erfinv_derivative>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<25>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, -0.9, 0.9}}),
              sample({{f32({17}), Fill::uniform, -0.9, 0.9}}),
              sample({{f16({5}), Fill::uniform, -0.9, 0.9}}),
              sample({{bf16({5}), Fill::uniform, -0.9, 0.9}}),
              sample({{f64({4}), {0.5, -0.75, 0.1, 0.99}}})
                  .expects({{0.4769362762044699, -0.8134198475976185, 0.08885599049425769, 1.8213863677184494}}),
              sample({{f64({1}), {0.999999}}}).expects({{3.4589107372754987}}).without_gradients(),
              sample({{f64({2}), {1e-10, -1e-300}}}).expects({{8.86226925452758e-11, -8.86226925452758e-301}}),
              sample({{f32({5}), {-0.0, 1, -1, 1.5, NAN}}})
                  .expects({{-0.0, INFINITY, -INFINITY, NAN, NAN}})
                  .exact()
                  .without_gradients(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
