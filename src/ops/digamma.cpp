#include "ops/elementwise.hpp"

#include <iterator>
#include <numbers>

namespace rlx::ops {

constexpr Operand digamma_operands[] = {{"x", floating}};

/// B_2k, the Bernoulli numbers (DLMF 24.2.3), for k = 1 to 8.
constexpr double bernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};

/// Taylor coefficients of digamma about its positive zero, so that the zero is hit to full relative accuracy.
constexpr double zero_high = 0x1.762d86356be3fp+0, zero_low = 9.549995429965697715e-17;
constexpr double about_zero[] = {0.9676722454476211704,   -0.4427631689835921061,  0.2584997609556510106,
                                 -0.1639427054424065275,  0.1078240506912623657,   -0.07219956125645471093,
                                 0.04880428816414310723,  -0.03316112647484735929, 0.02259764823221810466,
                                 -0.01542476590494895914, 0.01053879161661217539,  -0.007204534386356868241};

/// Reflection (DLMF 5.5.4) below 0, recurrence (5.5.2) up to 12, the asymptotic series (5.11.2) from there, in long
/// double because the recurrence cancels. Near the negative zeros the error is small in absolute terms only.
static double digamma_of(double x) {
  if (x == 0) return std::copysign(INFINITY, -x);
  if (std::isnan(x) || x == -INFINITY || (x < 0 && x == std::floor(x))) return NAN;
  if (const double d = (x - zero_high) - zero_low; std::fabs(d) < 0.0625) {
    double y = 0;
    for (auto c = std::rbegin(about_zero); c != std::rend(about_zero); ++c) y = y * d + *c;
    return y * d;
  }
  constexpr long double pi = std::numbers::pi_v<long double>;
  long double y = 0, z = x;
  if (x < 0) {
    y = -pi / std::tan(pi * (z - std::round(z)));
    z = 1 - z;
  }
  for (; z < 12; z += 1) y -= 1 / z;
  const long double w = 1 / (z * z);
  long double series = 0;
  for (int k = 8; k >= 1; --k) series = w * (series + bernoulli[k - 1] / (2.0L * k));
  return static_cast<double>(y + std::log(z) - 0.5L / z - series);
}

/// The derivative of digamma in primitives, by the same three formulas: trigamma(x) = pi^2 / sin^2(pi x) - trigamma(1 -
/// x) below 1/2 (DLMF 5.15.6), trigamma(z) = 1/z^2 + trigamma(z + 1) (5.15.5) and its asymptotic series (5.15.8)
/// from 8.5.
static Value trigamma(Value x, Value) {
  const Value reflected = compare(x, full_like(x, 0.5), Direction::lt);
  Value z = select(reflected, 1.0 - x, x);
  Value sum = 1.0 / (z * z);
  for (int k = 1; k < 8; ++k) sum = sum + 1.0 / ((z + k) * (z + k));
  z = z + 8;
  const Value w = 1.0 / (z * z);
  Value series = full_like(x, bernoulli[7]);
  for (int k = 6; k >= 0; --k) series = series * w + bernoulli[k];
  sum = sum + 1.0 / z + (0.5 + series / z) * w;
  // Where nothing is reflected the sine is 1, so that no infinity enters the derivative of this formula.
  const Value sine = select(reflected, sin((x - round(x)) * std::numbers::pi), full_like(x, 1));
  return select(reflected, std::numbers::pi * std::numbers::pi / (sine * sine) - sum, sum);
}

extern const OpDef<NoAttributes> digamma_op{
    .name = "digamma",
    .doc = "Derivative of lgamma; NaN at -1, -2, ..., and -infinity at 0, infinity at -0.",
    .operands = digamma_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_float(c, [](double x) { return digamma_of(x); });
    }},
    .vjp = Vjp<NoAttributes>{unary_vjp<trigamma>},
    .jvp = unary_jvp<trigamma>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<40>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, 0.3, 5}}),
              sample({{f64({3}), Fill::uniform, -0.8, -0.2}}),
              sample({{f32({17}), Fill::uniform, 0.3, 5}}),
              sample({{f16({5}), Fill::uniform, 0.3, 5}}),
              sample({{bf16({5}), Fill::uniform, 0.3, 5}}),
              sample({{f64({4}), {1, 0.5, 10, 3}}})
                  .expects({{-0.5772156649015329, -1.9635100260214235, 2.251752589066721, 0.9227843350984671}}),
              sample({{f64({1}), {1.46}}}).expects({{-0.0015805619870834521}}),
              sample({{f64({1}), {-0.5}}}).expects({{0.03648997397857652}}),
              sample({{f64({2}), {-2.25, 100}}}).expects({{4.158583564657972, 4.600161852738087}}),
              sample({{f32({6}), {0, -0.0, -1, INFINITY, -INFINITY, NAN}}})
                  .expects({{-INFINITY, INFINITY, NAN, INFINITY, NAN, NAN}})
                  .exact()
                  .without_gradients(),
              sample({i32({2})}).breaking("dtype"),
              sample({c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
