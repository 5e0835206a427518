#include "ops/communication.hpp"

namespace rlx::ops {

constexpr Constraint<AxisAttrs> all_gather_constraints[] = {
    {"C1", "the communicator has one dimension, its ranks, of which there is one at least", has_ranks<AxisAttrs>},
    {"C2", "0 <= axis < rank(x)",
     [](const AxisAttrs& a, const Signature& s) { return axis_within(a.axis, s.rank(0)); }}};

static Types all_gather_infer(const AxisAttrs& a, const Signature& s) { return infer_parts(s, -1, a.axis); }

// Each rank's x is a part of every rank's y.
static Values all_gather_vjp(const VjpCall<AxisAttrs>& c) {
  return pull_linear(
      c, [&](Value t) { return again(c, "comm.reduce_scatter", t, ReduceScatterAttrs{c.attrs.axis}).value; });
}

extern const OpDef<AxisAttrs> comm_all_gather_op{
    .name = "comm.all_gather",
    .doc = "The values of all ranks joined along one dimension, in their order.",
    .operands = comm_operands,
    .constraints = all_gather_constraints,
    .infer = all_gather_infer,
    .meaning = Extern<AxisAttrs>{[](const AxisAttrs& a, const ReferenceCall& c) -> HostValues {
      return {joined_along(host_communicator(c).exchange(c.tensor(0)), a.axis), HostToken{}};
    }},
    .vjp = Vjp<AxisAttrs>{all_gather_vjp},
    .jvp = push_linear<AxisAttrs>,
    .batch = [](const BatchCall<AxisAttrs>& c) { return batch_collective(c, AxisAttrs{c.attrs.axis + 1}); },
    .shard = [](const AxisAttrs& a,
                const Signature& s) { return shard_positions(s, all_gather_infer(a, s), {a.axis}); },
    .cost = cost_moving<all_gather_infer, 0, AxisAttrs>,
    .samples = []() -> std::vector<Sample<AxisAttrs>> {
      return {
          sample<AxisAttrs>({{f64({3}), {1, -2, 0.5}}, some_ranks(1), some_token()}).expects({{1, -2, 0.5}}).exact(),
          sample<AxisAttrs>({f64({2, 3}), some_ranks(1), some_token()}, {1}),
          sample<AxisAttrs>({f64({2, 3}), some_ranks(4), some_token()}, {1}),
          sample<AxisAttrs>({i32({2}), some_ranks(1), some_token()}),
          sample<AxisAttrs>({f32({2}), SampleOperand(Type(communicator(0)), Fill::uniform), some_token()})
              .breaking("C1"),
          sample<AxisAttrs>({f32({2}), some_ranks(2), some_token()}, {1}).breaking("C2"),
          sample<AxisAttrs>({f32({}), some_ranks(2), some_token()}).breaking("C2")};
    }};

}  // namespace rlx::ops
