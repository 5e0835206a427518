#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand div_operands[] = {{"x", numbers}, {"y", numbers}};

static Values div_vjp(const VjpCall<NoAttributes>& c) {
  if (!pulls(c, 0) && !pulls(c, 1)) return {Value{}, Value{}};
  const Value t = c.cotangent[0] / conj(c.in[1]);
  return {c.wanted[0] ? t : Value{}, c.wanted[1] ? -(t * conj(c.out[0])) : Value{}};
}
static Values div_jvp(const JvpCall<NoAttributes>& c) {
  const Value x = c.tangent[0], y = c.tangent[1];
  if (!x && !y) return {Value{}};
  const Value from_y = y ? y * c.out[0] : y;
  return {(x && y ? x - from_y : y ? -from_y : x) / c.in[1]};
}

template <class T>
static T quotient(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if (y == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
      if (y == -1) return wrapping([](auto v) { return 0 - v; })(x);
  }
  return x / y;
}

extern const OpDef<NoAttributes> div_op{
    .name = "div",
    .doc = "x / y. Integers truncate towards 0; x / 0 has all bits set and the least integer over -1 is itself.",
    .operands = div_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_binary(c, [](auto x, auto y) { return quotient(x, y); });
    }},
    .vjp = Vjp<NoAttributes>{div_vjp},
    .jvp = div_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<4>,
    .samples = []() -> Samples {
      return {
          sample({{f64({3, 5}), Fill::uniform, -2, 2}, {f64({3, 5}), Fill::uniform, 0.5, 2}}),
          sample({{f32({17}), Fill::uniform, -2, 2}, {f32({17}), Fill::uniform, 0.5, 2}}),
          sample({{f16({5}), Fill::uniform, -2, 2}, {f16({5}), Fill::uniform, 0.5, 2}}),
          sample({{bf16({5}), Fill::uniform, -2, 2}, {bf16({5}), Fill::uniform, 0.5, 2}}),
          sample({{c128({4}), Fill::uniform, 0.2, 1}, {c128({4}), Fill::uniform, 0.2, 1}}),
          sample({{c64({3}), Fill::uniform, 0.2, 1}, {c64({3}), Fill::uniform, 0.2, 1}}),
          sample({{i32({2, 3}), Fill::uniform, -100, 100}, {i32({2, 3}), Fill::uniform, 1, 9}}),
          sample({{f32({3}), {1, -3, 0.5}}, {f32({3}), {2, -2, 0.25}}}).expects({{0.5, 1.5, 2}}).exact(),
          sample({{f32({5}), {1, -1, 0, NAN, INFINITY}}, {f32({5}), {0, 0, 0, 1, INFINITY}}})
              .expects({{INFINITY, -INFINITY, NAN, NAN, NAN}})
              .exact()
              .without_gradients(),
          sample({{tensor(DType::i8, {5}), {7, -7, 7, 5, -128}}, {tensor(DType::i8, {5}), {2, 2, -2, 0, -1}}})
              .expects({{3, -3, -3, -1, -128}})
              .exact(),
          sample({{i64({2}), {-9223372036854775808.0, 9}}, {i64({2}), {-1, 0}}})
              .expects({{-9223372036854775808.0, -1}})
              .exact(),
          sample({{tensor(DType::u8, {2}), {255, 7}}, {tensor(DType::u8, {2}), {16, 0}}}).expects({{15, 255}}).exact(),
          sample({{tensor(DType::u64, {1}), {18446744073709551615.0}}, {tensor(DType::u64, {1}), {0}}})
              .expects({{18446744073709551615.0}})
              .exact(),
          sample({{c128({1}), {-4, -5.5}}, {c128({1}), {1, 2}}}).expects({{-3, 0.5}}),
          sample({f32({2}), f32({3})}).breaking("C1"),
          sample({f32({2}), f64({2})}).breaking("C2"),
          sample({boolean({2}), boolean({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
