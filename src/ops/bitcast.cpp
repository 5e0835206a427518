#include "ops/elementwise.hpp"

#include <cstring>

namespace rlx::ops {

// Types that are one register of whole bytes, all of whose bits have a meaning.
constexpr DTypeSet bitcastable = storable - DTypeSet{DType::boolean, DType::i4} - complex_types;
constexpr Operand bitcast_operands[] = {{"x", bitcastable}};

constexpr Constraint<DTypeAttrs> bitcast_constraints[] = {
    {"C1", "operand and result have one bit width",
     [](const DTypeAttrs& a, const Signature& s) -> Answer { return bit_width(a.dtype) == bit_width(s.dtype(0)); }},
    {"C2", "the result is a number of whole bytes, not complex",
     [](const DTypeAttrs& a, const Signature&) -> Answer { return bitcastable.contains(a.dtype); }}};

static HostValues bitcast_reference(const DTypeAttrs&, const ReferenceCall& c) {
  HostTensor y = c.make();
  if (y.bytes()) std::memcpy(y.mutable_data(), c.tensor(0).data(), static_cast<std::size_t>(y.bytes()));
  return {y};
}

extern const OpDef<DTypeAttrs> bitcast_op{
    .name = "bitcast",
    .doc = "The bits of x read as another dtype of the same width. Has no derivative: gradients through it are zero.",
    .operands = bitcast_operands,
    .constraints = bitcast_constraints,
    .infer = [](const DTypeAttrs& a, const Signature& s) -> Types { return {tensor(a.dtype, s.shape(0))}; },
    .meaning = Primitive<DTypeAttrs>{bitcast_reference},
    .vjp = Vjp<DTypeAttrs>{zero_vjp<DTypeAttrs>},
    .jvp = zero_jvp<DTypeAttrs>,
    .batch = batch_elementwise<DTypeAttrs>,
    .shard = shard_elementwise<DTypeAttrs>,
    .cost = [](const DTypeAttrs& a, const Signature& s) { return elementwise_cost(s, 0, a.dtype); },
    .samples = []() -> std::vector<Sample<DTypeAttrs>> {
      return {
          sample<DTypeAttrs>({f64({2, 3})}, {.dtype = DType::i64}).without_gradients(),
          sample<DTypeAttrs>({f32({5})}, {.dtype = DType::i32}),
          sample<DTypeAttrs>({{tensor(DType::f32, {4}), {1, -0.0, 0.5, INFINITY}}}, {.dtype = DType::i32})
              .expects({{1065353216, -2147483648, 1056964608, 2139095040}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::u32, {1}), {1078530011}}}, {.dtype = DType::f32})
              .expects({{3.14159274101257324}})
              .exact(),
          sample<DTypeAttrs>({{tensor(DType::f64, {1}), {1}}}, {.dtype = DType::i64})
              .expects({{4607182418800017408}})
              .exact()
              .without_gradients(),
          sample<DTypeAttrs>({{tensor(DType::i8, {1}), {-1}}}, {.dtype = DType::u8}).expects({{255}}).exact(),
          sample<DTypeAttrs>({{tensor(DType::f16, {1}), {1}}}, {.dtype = DType::bf16}).expects({{0.0078125}}).exact(),
          sample<DTypeAttrs>({{tensor(DType::u8, {1}), {56}}}, {.dtype = DType::f8e4m3fn}).expects({{1}}).exact(),
          sample<DTypeAttrs>({f64({2})}, {.dtype = DType::c64}).breaking("C2"),
          sample<DTypeAttrs>({c64({2})}, {.dtype = DType::u64}).breaking("dtype"),
          sample<DTypeAttrs>({f32({2})}, {.dtype = DType::i64}).breaking("C1"),
          sample<DTypeAttrs>({tensor(DType::u8, {2})}, {.dtype = DType::boolean}).breaking("C2"),
          sample<DTypeAttrs>({boolean({2})}, {.dtype = DType::u8}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
