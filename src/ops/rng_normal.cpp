// sqrt(2) erfinv(v), where v takes the midpoints of 2^23 (f32) or 2^52 (f64) equal parts of (-1, 1), exactly: never an
// end, so never infinite. The tails end at 5.3 and 8.2 standard deviations. Devices differ by their erfinv only.
#include "ops/rng.hpp"

#include <numbers>

namespace rlx::ops {

static Values rng_normal_decompose(Builder& b, const RngRealAttrs& a, ValuesIn in) {
  const bool wide = a.dtype == DType::f64;
  const Value bits = rng_integers(in[0], in[1], a.dtype, element_count(a.shape));
  const Value part = convert(shift_right_logical(bits, full(b, bits.dtype(), bits.shape(), wide ? 12 : 9)), a.dtype);
  // 2 (part + 1/2) / parts - 1: an odd number of half parts, which has one bit less than the significand.
  const Value v =
      add(mul(part, full_like(part, wide ? 0x1p-51 : 0x1p-22)), full_like(part, (wide ? 0x1p-52 : 0x1p-23) - 1));
  return {reshape(mul(erfinv(v), full_like(v, std::numbers::sqrt2)), a.shape)};
}

extern const OpDef<RngRealAttrs> rng_normal_op{
    .name = "rng_normal",
    .doc = "Random numbers of the standard normal distribution.",
    .operands = rng_operands,
    .constraints = rng_real_constraints,
    .infer = rng_real_infer,
    .meaning = Composite<RngRealAttrs>{rng_normal_decompose},
    .vjp = Vjp<RngRealAttrs>{zero_vjp<RngRealAttrs>},
    .jvp = zero_jvp<RngRealAttrs>,
    .batch = Derived{},
    .shard = Derived{},
    .cost = cost_moving<rng_real_infer, 60, RngRealAttrs>,
    .samples = []() -> std::vector<Sample<RngRealAttrs>> {
      using R = RngRealAttrs;
      const SampleOperand key{tensor(DType::u32, {2}), Fill::key}, start = rng_counter(0), none = rng_key(0, 0);
      // Quantiles of 0x6627e8d5 and 0xe169c58d over 2^32.
      return {
          sample<R>({key, start}, {DType::f32, {3, 5}}),
          sample<R>({key, start}, {DType::f64, {7}}),
          sample<R>({none, start}, {DType::f32, {2}}).expects({{-0.2558159448041084, 1.1775910739724795}}).within(1e-5),
          sample<R>({key, start}, {DType::f32, {0}}),
          sample<R>({tensor(DType::u32, {3}), start}, {DType::f32, {1}}).breaking("C1"),
          sample<R>({key, tensor(DType::u64, {1})}, {DType::f32, {1}}).breaking("C2"),
          sample<R>({key, start}, {DType::f32, {-1}}).breaking("C3"),
          sample<R>({key, start}, {DType::bf16, {1}}).breaking("C4")};
    }};

}  // namespace rlx::ops
