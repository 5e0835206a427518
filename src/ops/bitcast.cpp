#include "ops/quantized.hpp"

#include <cstring>

namespace rlx::ops {

// Types that are one register of whole bytes, all of whose bits have a meaning.
constexpr DTypeSet bitcastable = storable - DTypeSet{DType::boolean, DType::i4} - complex_types;
constexpr Operand bitcast_operands[] = {{.name = "x", .dtypes = bitcastable | DTypeSet{DType::i4}, .quantized = true}};

constexpr Constraint<DTypeAttrs> bitcast_constraints[] = {
    {"C1", "operand and result have one bit width",
     [](const DTypeAttrs& a, const Signature& s) -> Answer { return bit_width(a.dtype) == bit_width(s.dtype(0)); }},
    {"C2", "the result is a number of whole bytes, not complex, unless it is what a quantized x stores",
     [](const DTypeAttrs& a, const Signature& s) -> Answer {
       return bitcastable.contains(a.dtype) || is_quantized(s.tensor(0));
     }},
    {"C3", "of a quantized x the result is what it stores, in its own dtype",
     [](const DTypeAttrs& a, const Signature& s) -> Answer {
       return !is_quantized(s.tensor(0)) || a.dtype == s.dtype(0);
     }}};

static Types bitcast_infer(const DTypeAttrs& a, const Signature& s) { return {tensor(a.dtype, s.shape(0))}; }

static HostValues bitcast_reference(const DTypeAttrs&, const ReferenceCall& c) {
  HostTensor y = c.make();
  if (y.bytes()) std::memcpy(y.mutable_data(), c.tensor(0).data(), static_cast<std::size_t>(y.bytes()));
  return {y};
}

// A quantized operand cannot be transposed, what it stores can.
static Batched bitcast_batch(const BatchCall<DTypeAttrs>& c) {
  return {{lead(c.b.emit1("bitcast", c.in, c.attrs), c.axes[0], c.size)}, {0}};
}

static ShardRule bitcast_shard(const DTypeAttrs& a, const Signature& s) {
  return shard_positions(s, bitcast_infer(a, s), whole_dimensions(s.tensor(0)));
}

extern const OpDef<DTypeAttrs> bitcast_op{
    .name = "bitcast",
    .doc =
        "The bits of x read as another dtype of the same width; of a quantized x, what it stores. Has no derivative: "
        "gradients through it are zero.",
    .operands = bitcast_operands,
    .constraints = bitcast_constraints,
    .infer = bitcast_infer,
    .meaning = Primitive<DTypeAttrs>{bitcast_reference},
    .vjp = Vjp<DTypeAttrs>{zero_vjp<DTypeAttrs>},
    .jvp = zero_jvp<DTypeAttrs>,
    .batch = bitcast_batch,
    .shard = bitcast_shard,
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
          sample<DTypeAttrs>({{quantized(tensor(DType::i8, {3}), {.scales = {0.5}, .zero_points = {1}}), {-128, 0, 7}}},
                             {.dtype = DType::i8})
              .expects({{-128, 0, 7}})
              .exact(),
          sample<DTypeAttrs>({{quantized(tensor(DType::u8, {18}), {.block_format = "q4_0"}), Fill::uniform, 0, 255}},
                             {.dtype = DType::u8}),
          sample<DTypeAttrs>({quantized(tensor(DType::i8, {3}), {.scales = {0.5}})}, {.dtype = DType::u8})
              .breaking("C3"),
          sample<DTypeAttrs>({tensor(DType::i4, {2})}, {.dtype = DType::i4}).breaking("C2"),
          sample<DTypeAttrs>({f64({2})}, {.dtype = DType::c64}).breaking("C2"),
          sample<DTypeAttrs>({c64({2})}, {.dtype = DType::u64}).breaking("dtype"),
          sample<DTypeAttrs>({f32({2})}, {.dtype = DType::i64}).breaking("C1"),
          sample<DTypeAttrs>({tensor(DType::u8, {2})}, {.dtype = DType::boolean}).breaking("C2"),
          sample<DTypeAttrs>({boolean({2})}, {.dtype = DType::u8}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
