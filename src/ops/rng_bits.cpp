#include "ops/philox.hpp"
#include "ops/rng.hpp"

namespace rlx::ops {

static Values rng_bits_decompose(Builder&, const RngBitsAttrs& a, ValuesIn in) {
  return {reshape(philox_words(in[0], in[1], element_count(a.shape)), a.shape)};
}
static Types rng_bits_infer(const RngBitsAttrs& a, const Signature&) { return {tensor(DType::u32, a.shape)}; }

// Literals from the known-answer file of Random123: key 0, counter 0; the next block follows from counter 1.
extern const OpDef<RngBitsAttrs> rng_bits_op{
    .name = "rng_bits",
    .doc = "Random words by Philox 4x32-10: a pure function of key and counter, equal on every device.",
    .operands = rng_operands,
    .constraints = rng_constraints<RngBitsAttrs>,
    .infer = rng_bits_infer,
    .meaning = Composite<RngBitsAttrs>{rng_bits_decompose},
    .vjp = Vjp<RngBitsAttrs>{zero_vjp<RngBitsAttrs>},
    .jvp = zero_jvp<RngBitsAttrs>,
    .batch = Derived{},
    .shard = Derived{},
    .cost = cost_moving<rng_bits_infer, 25, RngBitsAttrs>,
    .samples = []() -> std::vector<Sample<RngBitsAttrs>> {
      using R = RngBitsAttrs;
      const SampleOperand key{tensor(DType::u32, {2}), Fill::key}, start = rng_counter(0), none = rng_key(0, 0);
      return {sample<R>({key, start}, {{3, 5}}).exact(),
              sample<R>({none, start}, {{4}}).expects({{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}).exact(),
              sample<R>({none, start}, {{2, 1}}).expects({{0x6627e8d5, 0xe169c58d}}).exact(),
              sample<R>({key, start}, {{}}).exact(),
              sample<R>({key, start}, {{0}}).exact(),
              sample<R>({tensor(DType::u32, {3}), start}, {{1}}).breaking("C1"),
              sample<R>({tensor(DType::u32, {}), start}, {{1}}).breaking("C1"),
              sample<R>({key, tensor(DType::u64, {1})}, {{1}}).breaking("C2"),
              sample<R>({key, start}, {{-1}}).breaking("C3")};
    }};

}  // namespace rlx::ops
