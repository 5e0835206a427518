#include "ops/elementwise.hpp"

#include <cstring>

namespace rlx::ops {

constexpr Operand reduce_precision_operands[] = {{"x", floating}};

constexpr Constraint<ReducePrecisionAttrs> reduce_precision_constraints[] = {
    {"C1", "exponent_bits >= 1",
     [](const ReducePrecisionAttrs& a, const Signature&) -> Answer { return a.exponent_bits >= 1; }},
    {"C2", "mantissa_bits >= 0",
     [](const ReducePrecisionAttrs& a, const Signature&) -> Answer { return a.mantissa_bits >= 0; }}};

// Differentiated as if it did not round; the gradient, like the value, is brought to the reduced precision.
static Value reduced(Value t, const ReducePrecisionAttrs& a) {
  return t ? t.builder->emit1("reduce_precision", {t}, a) : t;
}
static Values reduce_precision_vjp(const VjpCall<ReducePrecisionAttrs>& c) {
  return {pulls(c, 0) ? reduced(c.cotangent[0], c.attrs) : Value{}};
}
static Values reduce_precision_jvp(const JvpCall<ReducePrecisionAttrs>& c) { return {reduced(c.tangent[0], c.attrs)}; }

/// Mantissa bits of the types that the operator takes.
static int stored_mantissa(DType t) { return t == DType::f16 ? 10 : t == DType::bf16 ? 7 : t == DType::f32 ? 23 : 52; }
static int stored_exponent(DType t) { return bit_width(t) - 1 - stored_mantissa(t); }

/// As XLA does it: the mantissa is rounded where it stands, so that subnormals of the operand's own type lose what the
/// type would lose; then an exponent outside the reduced range, whose ends are reserved, becomes infinity or zero.
static std::uint64_t reduce_bits(std::uint64_t bits, DType t, const ReducePrecisionAttrs& a) {
  const int mantissa = stored_mantissa(t), exponent = stored_exponent(t);
  const std::uint64_t sign = std::uint64_t{1} << (mantissa + exponent);
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent) - 1) << mantissa;
  std::uint64_t code = bits & (sign - 1);
  if (code >= infinity) return bits;
  if (const int dropped = mantissa - a.mantissa_bits; dropped > 0) {
    const std::uint64_t ulp = std::uint64_t{1} << dropped;
    code = (code + ulp / 2 - 1 + (code >> dropped & 1)) & ~(ulp - 1);  // half to even; a carry enters the exponent
  }
  if (a.exponent_bits < exponent) {
    const int field = static_cast<int>(code >> mantissa), bias = (1 << (exponent - 1)) - 1,
              range = (1 << (a.exponent_bits - 1)) - 1;
    if (field > bias + range) code = infinity;
    else if (field <= bias - range) code = 0;
  }
  return (bits & sign) | code;
}

static HostValues reduce_precision_reference(const ReducePrecisionAttrs& a, const ReferenceCall& c) {
  HostTensor y = c.tensor(0);
  const auto size = static_cast<std::size_t>(bit_width(y.dtype()) / 8);  // bytes
  std::byte* at = y.mutable_data();
  for (std::int64_t i = 0; i < y.numel(); ++i, at += size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, size);
    bits = reduce_bits(bits, y.dtype(), a);
    std::memcpy(at, &bits, size);
  }
  return {y};
}

extern const OpDef<ReducePrecisionAttrs> reduce_precision_op{
    .name = "reduce_precision",
    .doc =
        "x rounded to a float of these widths, half to even; beyond its range infinite, "
        "below its normal numbers zero. The dtype stays.",
    .operands = reduce_precision_operands,
    .constraints = reduce_precision_constraints,
    .infer = infer_first<ReducePrecisionAttrs>,
    .meaning = Primitive<ReducePrecisionAttrs>{reduce_precision_reference},
    .vjp = Vjp<ReducePrecisionAttrs>{reduce_precision_vjp},
    .jvp = reduce_precision_jvp,
    .batch = batch_elementwise<ReducePrecisionAttrs>,
    .shard = shard_elementwise<ReducePrecisionAttrs>,
    .cost = cost_elementwise<3, ReducePrecisionAttrs>,
    .samples = []() -> std::vector<Sample<ReducePrecisionAttrs>> {
      return {sample<ReducePrecisionAttrs>({f64({2, 3})}, {.exponent_bits = 8, .mantissa_bits = 52}),
              sample<ReducePrecisionAttrs>({f32({17})}, {.exponent_bits = 5, .mantissa_bits = 10}),
              sample<ReducePrecisionAttrs>({f16({5})}, {.exponent_bits = 5, .mantissa_bits = 3}),
              sample<ReducePrecisionAttrs>({bf16({5})}, {.exponent_bits = 4, .mantissa_bits = 3}),
              sample<ReducePrecisionAttrs>(
                  {{f32({7}), {1.00048828125, 1.00146484375, 65519, 65520, 6.1035156e-05, -1e-5, NAN}}},
                  {.exponent_bits = 5, .mantissa_bits = 10})
                  .expects({{1, 1.001953125, 65504, INFINITY, 6.1035156e-05, -0.0, NAN}})
                  .exact(),
              sample<ReducePrecisionAttrs>({{f32({4}), {3.1415927, -2.9, 1e-30, INFINITY}}},
                                           {.exponent_bits = 8, .mantissa_bits = 7})
                  .expects({{3.140625, -2.90625, 9.98402083170343e-31, INFINITY}})
                  .exact(),
              sample<ReducePrecisionAttrs>({{f64({2}), {1.5, 3.25}}}, {.exponent_bits = 11, .mantissa_bits = 0})
                  .expects({{2, 4}})
                  .exact()
                  .without_gradients(),
              sample<ReducePrecisionAttrs>({{f32({1}), {1e-40}}}, {.exponent_bits = 8, .mantissa_bits = 23})
                  .expects({{1e-40}})
                  .exact(),
              sample<ReducePrecisionAttrs>({{f16({2}), {1.0625, 1.1875}}}, {.exponent_bits = 5, .mantissa_bits = 3})
                  .expects({{1, 1.25}})
                  .exact(),
              sample<ReducePrecisionAttrs>({f32({2})}, {.exponent_bits = 0, .mantissa_bits = 10}).breaking("C1"),
              sample<ReducePrecisionAttrs>({f32({2})}, {.exponent_bits = 8, .mantissa_bits = -1}).breaking("C2"),
              sample<ReducePrecisionAttrs>({i32({2})}, {.exponent_bits = 5, .mantissa_bits = 10}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
