#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand sign_operands[] = {{"x", floating | signed_integers | complex_types}};

// s = x / |x| turns with the part of the tangent across it: ds = (dx - s Re(conj(s) dx)) / |x|, which is its own
// transpose.
static Value sign_turn(Value x, Value s, Value t) {
  if (!t || !is_complex(x.dtype())) return {};
  const Value modulus = abs(x), zero = zeros_like(modulus);
  const Value safe = select(compare(modulus, zero, Direction::eq), full_like(modulus, 1), modulus);
  return (t - s * convert(real(conj(s) * t), x.dtype())) / convert(safe, x.dtype());
}
static Values sign_vjp(const VjpCall<NoAttributes>& c) {
  return {pulls(c, 0) ? sign_turn(c.in[0], c.out[0], c.cotangent[0]) : Value{}};
}
static Values sign_jvp(const JvpCall<NoAttributes>& c) { return {sign_turn(c.in[0], c.out[0], c.tangent[0])}; }

static double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static std::int64_t sign_of(std::int64_t x) { return (x > 0) - (x < 0); }
static std::complex<double> sign_of(std::complex<double> x) {
  if (std::isnan(x.real()) || std::isnan(x.imag())) return {NAN, NAN};
  return x == 0.0 ? x : x / std::abs(x);
}

extern const OpDef<NoAttributes> sign_op{
    .name = "sign",
    .doc = "-1, 0 or 1; zeros and NaN stay what they are. Of a complex number x / |x|.",
    .operands = sign_operands,
    .constraints = {},
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_unary(
          c, []<class T>(T x)
            requires requires { sign_of(x); }
          { return sign_of(x); });
    }},
    .vjp = Vjp<NoAttributes>{sign_vjp},
    .jvp = sign_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<2>,
    .samples = []() -> Samples {
      return {sample({{f64({2, 3}), Fill::uniform, 0.2, 2}}),
              sample({f32({17})}),
              sample({f16({5})}),
              sample({bf16({5})}),
              sample({{c128({4}), Fill::uniform, 0.2, 1}}),
              sample({c64({3})}),
              sample({{i32({2, 3}), Fill::uniform, -2, 2}}),
              sample({{f32({6}), {-1.5, 2, -0.0, 0, -INFINITY, NAN}}})
                  .expects({{-1, 1, -0.0, 0, -1, NAN}})
                  .exact()
                  .without_gradients(),
              sample({{tensor(DType::i8, {3}), {-128, 0, 5}}}).expects({{-1, 0, 1}}).exact(),
              sample({{c128({2}), {3, -4, 0, 0}}}).expects({{0.6, -0.8, 0, 0}}).without_gradients(),
              sample({{c64({1}), {1, NAN}}}).expects({{NAN, NAN}}).without_gradients(),
              sample({boolean({2})}).breaking("dtype"),
              sample({tensor(DType::u8, {2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
