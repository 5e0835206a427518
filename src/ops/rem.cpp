#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand rem_operands[] = {{"x", real_numbers}, {"y", real_numbers}};

// z = x - q y with the integer q = trunc(x / y); rounding (x - z) / y finds q even where x / y rounds up to an integer.
static Value rem_dy(Value x, Value y, Value z) { return -round((x - z) / y); }
static Values rem_vjp(const VjpCall<NoAttributes>& c) {
  return {pulls(c, 0) ? c.cotangent[0] : Value{},
          pulls(c, 1) ? c.cotangent[0] * rem_dy(c.in[0], c.in[1], c.out[0]) : Value{}};
}
static Values rem_jvp(const JvpCall<NoAttributes>& c) {
  return {plus(c.tangent[0], c.tangent[1] ? c.tangent[1] * rem_dy(c.in[0], c.in[1], c.out[0]) : Value{})};
}

template <RealElement T>
static T remainder_of(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return std::fmod(x, y);
  else {
    if (y == 0) return x;
    if constexpr (std::is_signed_v<T>)
      if (y == -1) return 0;
    return x % y;
  }
}

extern const OpDef<NoAttributes> rem_op{
    .name = "rem",
    .doc = "x - y trunc(x / y), with the sign of x; x itself where an integer y is 0.",
    .operands = rem_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_binary(c, []<RealElement T>(T x, T y) { return remainder_of(x, y); });
    }},
    .vjp = Vjp<NoAttributes>{rem_vjp},
    .jvp = rem_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<8>,
    .samples = []() -> Samples {
      return {
          sample({{f64({3, 5}), Fill::uniform, 5.1, 5.9}, {f64({3, 5}), Fill::uniform, 1.01, 1.25}}),
          sample({{f32({17}), Fill::uniform, -9, 9}, {f32({17}), Fill::uniform, 0.5, 2}}),
          sample({{f16({5}), Fill::uniform, -9, 9}, {f16({5}), Fill::uniform, 0.5, 2}}),
          sample({{bf16({5}), Fill::uniform, -9, 9}, {bf16({5}), Fill::uniform, 0.5, 2}}),
          sample({{i32({2, 3}), Fill::uniform, -100, 100}, {i32({2, 3}), Fill::uniform, 1, 9}}),
          sample({{f64({4}), {5.5, -5.5, 5.5, -5.5}}, {f64({4}), {2, 2, -2, -2}}})
              .expects({{1.5, -1.5, 1.5, -1.5}})
              .exact(),
          sample({{f32({5}), {1, -0.0, 3, INFINITY, NAN}}, {f32({5}), {0, 3, INFINITY, 2, 1}}})
              .expects({{NAN, -0.0, 3, NAN, NAN}})
              .exact()
              .without_gradients(),
          sample({{tensor(DType::i8, {5}), {7, -7, 7, 5, -128}}, {tensor(DType::i8, {5}), {2, 2, -2, 0, -1}}})
              .expects({{1, -1, 1, 5, 0}})
              .exact(),
          sample({{i64({2}), {-9223372036854775808.0, 9}}, {i64({2}), {-1, 0}}}).expects({{0, 9}}).exact(),
          sample({{tensor(DType::u8, {2}), {255, 7}}, {tensor(DType::u8, {2}), {16, 0}}}).expects({{15, 7}}).exact(),
          sample({f32({2}), f32({3})}).breaking("C1"),
          sample({f32({2}), f64({2})}).breaking("C2"),
          sample({boolean({2}), boolean({2})}).breaking("dtype"),
          sample({c64({2}), c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
