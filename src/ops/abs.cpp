#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand abs_operands[] = {{"x", floating | signed_integers | complex_types}};

// x = |x| sign(x), for complex x too: the gradient of a real loss points along the unit number x / |x|, and is 0 at 0.
static Values abs_vjp(const VjpCall<NoAttributes>& c) {
  if (!pulls(c, 0)) return {Value{}};
  return {convert(c.cotangent[0], c.in[0].dtype()) * sign(c.in[0])};
}
static Values abs_jvp(const JvpCall<NoAttributes>& c) {
  if (!c.tangent[0]) return {Value{}};
  return {real(c.tangent[0] * conj(sign(c.in[0])))};
}

static double magnitude(double x) { return std::fabs(x); }
static double magnitude(std::complex<double> x) { return std::abs(x); }
static std::int64_t magnitude(std::int64_t x) {
  return x < 0 ? wrapping([](auto v) { return 0 - v; })(x) : x;
}

extern const OpDef<NoAttributes> abs_op{
    .name = "abs",
    .doc = "Absolute value; of a complex number its modulus, a real number. The least signed integer is its own.",
    .operands = abs_operands,
    .constraints = {},
    .infer = infer_real<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_unary(
          c, []<class T>(T x)
            requires requires { magnitude(x); }
          { return magnitude(x); });
    }},
    .vjp = Vjp<NoAttributes>{abs_vjp},
    .jvp = abs_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_real<1>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, 0.2, 2}}),
              sample({{f64({3}), Fill::uniform, -2, -0.2}}),
              sample({f32({17})}),
              sample({f16({5})}),
              sample({bf16({5})}),
              sample({{c128({4}), Fill::uniform, 0.2, 1}}),
              sample({c64({3})}),
              sample({{f32({5}), {-1.5, 2, -0.0, -INFINITY, NAN}}})
                  .expects({{1.5, 2, 0, INFINITY, NAN}})
                  .exact()
                  .without_gradients(),
              sample({{tensor(DType::i8, {3}), {-128, -127, 5}}}).expects({{-128, 127, 5}}).exact(),
              sample({{i64({2}), {-9223372036854775808.0, -7}}}).expects({{-9223372036854775808.0, 7}}).exact(),
              sample({{c128({2}), {3, -4, 0, 0}}}).expects({{5, 0}}).without_gradients(),
              sample({{c64({1}), {-INFINITY, NAN}}}).expects({{INFINITY}}).without_gradients(),
              sample({boolean({2})}).breaking("dtype"),
              sample({tensor(DType::u8, {2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
