#include "ops/elementwise.hpp"
#include "ops/positions.hpp"

namespace rlx::ops {

constexpr Operand convert_operands[] = {{"x", storable}};

// Between floating-point and complex types the transpose converts back (a real operand has no imaginary part to
// receive); integers and bool carry no derivative.
static bool differentiable(DType t) { return is_floating(t) || is_complex(t); }
static Values convert_vjp(const VjpCall<DTypeAttrs>& c) {
  const DType from = c.in[0].dtype();
  return {pulls(c, 0) && differentiable(from) && differentiable(c.attrs.dtype) ? convert(c.cotangent[0], from)
                                                                               : Value{}};
}
static Values convert_jvp(const JvpCall<DTypeAttrs>& c) {
  return {c.tangent[0] && differentiable(c.attrs.dtype) ? convert(c.tangent[0], c.attrs.dtype) : Value{}};
}

static HostValues convert_reference(const DTypeAttrs&, const ReferenceCall& c) {
  HostTensor y = c.make();
  for (std::int64_t i = 0; i < y.numel(); ++i) convert_element(y, i, c.tensor(0), i);
  return {y};
}

extern const OpDef<DTypeAttrs> convert_op{
    .name = "convert",
    .doc =
        "x in another dtype: rounded to nearest even, integers wrap, float to integer truncates and saturates (NaN: "
        "0), "
        "to bool tells whether x is not 0, complex to real drops the imaginary part.",
    .operands = convert_operands,
    .constraints = {},
    .infer = [](const DTypeAttrs& a, const Signature& s) -> Types { return {tensor(a.dtype, s.shape(0))}; },
    .meaning = Primitive<DTypeAttrs>{convert_reference},
    .vjp = Vjp<DTypeAttrs>{convert_vjp},
    .jvp = convert_jvp,
    .batch = batch_elementwise<DTypeAttrs>,
    .shard = shard_elementwise<DTypeAttrs>,
    .cost = [](const DTypeAttrs& a, const Signature& s) { return elementwise_cost(s, 1, a.dtype); },
    .samples = []() -> std::vector<Sample<DTypeAttrs>> {
      return {
          sample<DTypeAttrs>({f64({2, 3})}, {.dtype = DType::f64}),
          sample<DTypeAttrs>({f64({2, 3})}, {.dtype = DType::c128}),
          sample<DTypeAttrs>({c128({4})}, {.dtype = DType::f64}),
          sample<DTypeAttrs>({f32({17})}, {.dtype = DType::bf16}),
          sample<DTypeAttrs>({f16({5})}, {.dtype = DType::f32}),
          sample<DTypeAttrs>({{i32({5}), Fill::uniform, -100, 100}}, {.dtype = DType::f32}),
          sample<DTypeAttrs>({{tensor(DType::f32, {7}), {1.9, -1.9, NAN, INFINITY, -INFINITY, 300, -0.5}}},
                             {.dtype = DType::i8})
              .expects({{1, -1, 0, 127, -128, 127, 0}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::f32, {4}), {-1, 3.5, 300, NAN}}}, {.dtype = DType::u8})
              .expects({{0, 3, 255, 0}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::f64, {2}), {1e30, -1e30}}}, {.dtype = DType::i64})
              .expects({{9223372036854775807.0, -9223372036854775808.0}})
              .exact()
              .without_gradients(),
          sample<DTypeAttrs>({{tensor(DType::i32, {3}), {257, -1, 128}}}, {.dtype = DType::u8})
              .expects({{1, 255, 128}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::i32, {2}), {300, -129}}}, {.dtype = DType::i8})
              .expects({{44, 127}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::u64, {1}), {18446744073709551615.0}}}, {.dtype = DType::i64})
              .expects({{-1}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::i64, {1}), {16777217}}}, {.dtype = DType::f32})
              .expects({{16777216}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::f64, {2}), {1.00000005960464484, 1e39}}}, {.dtype = DType::f32})
              .expects({{1, INFINITY}})
              .exact()
              .without_gradients(),
          sample<DTypeAttrs>({{tensor(DType::f64, {1}), {1.00000017881393433}}}, {.dtype = DType::f32})
              .expects({{1.0000002384185791}})
              .exact()
              .without_gradients(),
          sample<DTypeAttrs>({{tensor(DType::f32, {3}), {0, -0.0, 0.5}}}, {.dtype = DType::boolean})
              .expects({{0, 0, 1}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::f32, {1}), {NAN}}}, {.dtype = DType::boolean}).expects({{1}}).exact(),
          sample<DTypeAttrs>({{tensor(DType::boolean, {2}), {0, 1}}}, {.dtype = DType::f32}).expects({{0, 1}}).exact(),
          sample<DTypeAttrs>({{tensor(DType::f32, {3}), {1, 8, -9}}}, {.dtype = DType::i4})
              .expects({{1, 7, -8}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::i4, {2}), {-8, 7}}}, {.dtype = DType::i32}).expects({{-8, 7}}).exact(),
          sample<DTypeAttrs>({{tensor(DType::f32, {2}), {449, -0.3}}}, {.dtype = DType::f8e4m3fn})
              .expects({{448, -0.3125}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::f32, {2}), {2049, 65520}}}, {.dtype = DType::f16})
              .expects({{2048, INFINITY}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::c64, {1}), {1.5, 2}}}, {.dtype = DType::f32}).expects({{1.5}}).exact(),
          sample<DTypeAttrs>({{tensor(DType::f32, {1}), {1.5}}}, {.dtype = DType::c64}).expects({{1.5, 0}}).exact(),
          sample<DTypeAttrs>({{tensor(DType::c64, {1}), {0, 2}}}, {.dtype = DType::boolean}).expects({{1}}).exact()};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
