#include "ops/communication.hpp"

namespace rlx::ops {

using Reduced = AllReduceAttrs;

constexpr Constraint<Reduced> all_reduce_constraints[] = {
    {"C1", "the communicator has one dimension, its ranks, of which there is one at least", has_ranks<Reduced>},
    {"C2", "kind combines values of x's dtype",
     [](const Reduced& a, const Signature& s) { return can_reduce(a.kind, s.dtype(0)); }}};

// y combines the x of all ranks, so that the cotangents of all y meet at every x.
static Values all_reduce_vjp(const VjpCall<Reduced>& c) {
  return pull_linear(c, [&](Value t) {
    const Value sum = again(c, "comm.all_reduce", t, Reduced{}).value;
    const Value slope = combination_slope(c.b, c.attrs.kind, c.in[0], c.out[0], c.in[1], c.out[1]);
    return slope ? mul(sum, conj(slope)) : sum;
  });
}
static Values all_reduce_jvp(const JvpCall<Reduced>& c) {
  if (!c.tangent[0]) return Values(2);
  const Value slope = combination_slope(c.b, c.attrs.kind, c.in[0], c.out[0], c.in[1], c.out[1]);
  return {
      again(c, "comm.all_reduce", scaled(c.tangent[0], slope ? slope : full_like(c.tangent[0], 1)), Reduced{}).value,
      Value{}};
}

extern const OpDef<Reduced> comm_all_reduce_op{
    .name = "comm.all_reduce",
    .doc = "The values of all ranks combined, in their order; every rank gets the result. Integers wrap.",
    .operands = comm_operands,
    .constraints = all_reduce_constraints,
    .infer = infer_like_x<Reduced>,
    .meaning = Extern<Reduced>{[](const Reduced& a, const ReferenceCall& c) -> HostValues {
      return {combined_values(a.kind, c), HostToken{}};
    }},
    .vjp = Vjp<Reduced>{all_reduce_vjp},
    .jvp = all_reduce_jvp,
    .batch = [](const BatchCall<Reduced>& c) { return batch_collective(c, c.attrs); },
    .shard = [](const Reduced& a, const Signature& s) { return shard_positions(s, infer_like_x(a, s), {}); },
    .cost = cost_moving<infer_like_x<Reduced>, 1, Reduced>,
    .samples = []() -> std::vector<Sample<Reduced>> {
      const SampleOperand x{f64({3}), {1, -2, 0.5}};
      return {sample<Reduced>({x, some_ranks(1), some_token()}).expects({{1, -2, 0.5}}).exact(),
              sample<Reduced>({x, some_ranks(1), some_token()}, {Combine::mul}).expects({{1, -2, 0.5}}).exact(),
              sample<Reduced>({x, some_ranks(1), some_token()}, {Combine::min}).expects({{1, -2, 0.5}}).exact(),
              sample<Reduced>({x, some_ranks(1), some_token()}, {Combine::max}).expects({{1, -2, 0.5}}).exact(),
              sample<Reduced>({f64({2, 3}), some_ranks(1), some_token()}),
              sample<Reduced>({f64({2, 3}), some_ranks(4), some_token()}),
              sample<Reduced>({bf16({3}), some_ranks(2), some_token()}, {Combine::max}),
              sample<Reduced>({boolean({3}), some_ranks(2), some_token()}, {Combine::min}),
              sample<Reduced>(
                  {f32({2}), SampleOperand(Type(ResourceType{.kind = "communicator"}), Fill::uniform), some_token()})
                  .breaking("C1"),
              sample<Reduced>({c64({2}), some_ranks(2), some_token()}, {Combine::max}).breaking("C2"),
              sample<Reduced>({f32({2}), some_ranks(2), some_token()}, {Combine::set}).breaking("C2"),
              sample<Reduced>({f32({2}), some_token(), some_token()}).breaking("kind")};
    }};

}  // namespace rlx::ops
