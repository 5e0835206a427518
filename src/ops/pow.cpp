#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand pow_operands[] = {{"x", numbers}, {"y", numbers}};

static Value equals(Value x, double v) { return compare(x, full_like(x, v), Direction::eq); }
// A constant where y is 0, also at x = 0, where the formula would be 0 * infinity.
static Value pow_dx(Value x, Value y, Value) { return select(equals(y, 0), zeros_like(x), y * pow(x, y - 1.0)); }
// 0 at x = 0, where log(x) has no value but 0^y stays 0 (or infinite) for all nearby y.
static Value pow_dy(Value x, Value, Value z) { return z * log(select(equals(x, 0), full_like(x, 1), x)); }

static double power(double x, double y) { return std::pow(x, y); }
static std::complex<double> power(std::complex<double> x, std::complex<double> y) {
  if (y == 0.0) return 1;
  if (x == 0.0 && y.real() > 0) return 0;
  return std::pow(x, y);
}
static std::uint64_t power(std::uint64_t x, std::uint64_t y) {
  std::uint64_t z = 1;
  for (; y; y >>= 1, x *= x)
    if (y & 1) z *= x;
  return z;
}
static std::int64_t power(std::int64_t x, std::int64_t y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  return static_cast<std::int64_t>(power(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)));
}

extern const OpDef<NoAttributes> pow_op{
    .name = "pow",
    .doc =
        "x to the y; 1 where y is 0. Integers wrap, and with negative y give 0 unless x is 1 or -1. "
        "Complex: the principal branch.",
    .operands = pow_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_binary(c, [](auto x, auto y) { return power(x, y); });
    }},
    .vjp = Vjp<NoAttributes>{binary_vjp<pow_dx, pow_dy>},
    .jvp = binary_jvp<pow_dx, pow_dy>,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<25>,
    .samples = []() -> Samples {
      return {sample({{f64({3, 5}), Fill::uniform, 0.3, 2}, {f64({3, 5}), Fill::uniform, -2, 2}}),
              sample({{f32({17}), Fill::uniform, 0.3, 2}, {f32({17}), Fill::uniform, -2, 2}}),
              sample({{f16({5}), Fill::uniform, 0.3, 2}, {f16({5}), Fill::uniform, -2, 2}}),
              sample({{bf16({5}), Fill::uniform, 0.3, 2}, {bf16({5}), Fill::uniform, -2, 2}}),
              sample({{c128({4}), Fill::uniform, 0.3, 1}, {c128({4}), Fill::uniform, 0.3, 1}}),
              sample({{c64({3}), Fill::uniform, 0.3, 1}, {c64({3}), Fill::uniform, 0.3, 1}}),
              sample({{i32({2, 3}), Fill::uniform, -5, 5}, {i32({2, 3}), Fill::uniform, 0, 6}}),
              sample({{f64({5}), {2, 10, 2, -2, 9}}, {f64({5}), {10, -3, 0.5, 3, 0.5}}})
                  .expects({{1024, 0.001, 1.4142135623730951, -8, 3}})
                  .without_gradients(),
              sample({{f32({7}), {0, 0, NAN, 1, -8, -INFINITY, 0}}, {f32({7}), {0, 2, 0, NAN, 0.5, 3, -1}}})
                  .expects({{1, 0, 1, 1, NAN, -INFINITY, INFINITY}})
                  .exact()
                  .without_gradients(),
              sample({{tensor(DType::i8, {7}), {2, 2, -1, -1, 1, 3, 0}},
                      {tensor(DType::i8, {7}), {7, -1, -3, -2, -5, 0, 0}}})
                  .expects({{-128, 0, -1, 1, 1, 1, 1}})
                  .exact(),
              sample({{tensor(DType::u8, {2}), {3, 2}}, {tensor(DType::u8, {2}), {6, 8}}}).expects({{217, 0}}).exact(),
              sample({{i64({1}), {-3}}, {i64({1}), {3}}}).expects({{-27}}).exact(),
              sample({{c128({4}), {0, 1, 1, 1, 0, 0, 0, 0}}, {c128({4}), {0, 1, 2, -1, 0, 0, 2, 0}}})
                  .expects({{0.20787957635076193, 0, 1.4900141243594482, 4.12574447016181, 1, 0, 0, 0}})
                  .without_gradients(),
              sample({f32({2}), f32({3})}).breaking("C1"),
              sample({f32({2}), f64({2})}).breaking("C2"),
              sample({boolean({2}), boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
