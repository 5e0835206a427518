// f32: the upper 24 bits of a word over 2^24. f64: the upper 53 bits of two words (the second above the first) over
// 2^53. Multiples of one unit, exactly: equal on every device, and 1 is never reached.
#include "ops/philox.hpp"
#include "ops/rng.hpp"

namespace rlx::ops {

Value rng_integers(Value key, Value counter, DType t, const Dim& count) {
  if (t == DType::f32) return philox_words(key, counter, count);
  const Value pairs = reshape(philox_words(key, counter, count * 2), {count, 2});
  const auto column = [&](std::int64_t i) {
    return convert(reshape(slice_axis(pairs, 1, i, i + 1), {count}), DType::u64);
  };
  return logical_or(column(0), shift_left(column(1), full(*key.builder, DType::u64, {count}, 32)));
}

static Values rng_uniform_decompose(Builder& b, const RngRealAttrs& a, ValuesIn in) {
  const bool wide = a.dtype == DType::f64;
  const Value bits = rng_integers(in[0], in[1], a.dtype, element_count(a.shape));
  const Value kept = shift_right_logical(bits, full(b, bits.dtype(), bits.shape(), wide ? 11 : 8));
  const Value u = convert(kept, a.dtype);
  return {reshape(mul(u, full_like(u, wide ? 0x1p-53 : 0x1p-24)), a.shape)};
}

extern const OpDef<RngRealAttrs> rng_uniform_op{
    .name = "rng_uniform",
    .doc = "Random numbers in [0, 1), equal on every device.",
    .operands = rng_operands,
    .constraints = rng_real_constraints,
    .infer = rng_real_infer,
    .meaning = Composite<RngRealAttrs>{rng_uniform_decompose},
    .vjp = Vjp<RngRealAttrs>{zero_vjp<RngRealAttrs>},
    .jvp = zero_jvp<RngRealAttrs>,
    .batch = Derived{},
    .shard = Derived{},
    .cost = cost_moving<rng_real_infer, 28, RngRealAttrs>,
    .samples = []() -> std::vector<Sample<RngRealAttrs>> {
      using R = RngRealAttrs;
      const SampleOperand key{tensor(DType::u32, {2}), Fill::key}, start = rng_counter(0), none = rng_key(0, 0);
      return {sample<R>({key, start}, {DType::f32, {3, 5}}).exact(),
              sample<R>({key, start}, {DType::f64, {7}}).exact(),
              sample<R>({none, start}, {DType::f32, {2}}).expects({{0x6627e8 * 0x1p-24, 0xe169c5 * 0x1p-24}}).exact(),
              sample<R>({none, start}, {DType::f64, {1}})
                  .expects({{static_cast<double>(0xe169c58d6627e8d5 >> 11) * 0x1p-53}})
                  .exact(),
              sample<R>({key, start}, {DType::f64, {0}}).exact(),
              sample<R>({tensor(DType::u32, {3}), start}, {DType::f32, {1}}).breaking("C1"),
              sample<R>({key, tensor(DType::u64, {1})}, {DType::f32, {1}}).breaking("C2"),
              sample<R>({key, start}, {DType::f32, {-1}}).breaking("C3"),
              sample<R>({key, start}, {DType::f16, {1}}).breaking("C4")};
    }};

}  // namespace rlx::ops
