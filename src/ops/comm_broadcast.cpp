#include "ops/communication.hpp"

namespace rlx::ops {

constexpr Constraint<RootAttrs> comm_broadcast_constraints[] = {
    {"C1", "the communicator has one dimension, its ranks, of which there is one at least", has_ranks<RootAttrs>},
    {"C2", "0 <= root < ranks", [](const RootAttrs& a, const Signature& s) { return is_rank(a.root, s); }}};

// The root's x is every y; what the other ranks hold is not looked at.
static Values comm_broadcast_vjp(const VjpCall<RootAttrs>& c) {
  return pull_linear(c, [&](Value t) {
    const Value sum = again(c, "comm.all_reduce", t, AllReduceAttrs{}).value;
    const Value root = scalar(c.b, DType::i32, static_cast<double>(c.attrs.root));
    return select(broadcast(compare(rank_of(c.in[1]), root, Direction::eq), sum.shape(), {}), sum, zeros_like(sum));
  });
}

extern const OpDef<RootAttrs> comm_broadcast_op{
    .name = "comm.broadcast",
    .doc = "The value of one rank, for all.",
    .operands = comm_operands,
    .constraints = comm_broadcast_constraints,
    .infer = infer_like_x<RootAttrs>,
    .meaning = Extern<RootAttrs>{[](const RootAttrs& a, const ReferenceCall& c) -> HostValues {
      return {host_communicator(c).exchange(c.tensor(0))[static_cast<std::size_t>(a.root)], HostToken{}};
    }},
    .vjp = Vjp<RootAttrs>{comm_broadcast_vjp},
    .jvp = push_linear<RootAttrs>,
    .batch = [](const BatchCall<RootAttrs>& c) { return batch_collective(c, c.attrs); },
    .shard = [](const RootAttrs& a, const Signature& s) { return shard_positions(s, infer_like_x(a, s), {}); },
    .cost = cost_moving<infer_like_x<RootAttrs>, 0, RootAttrs>,
    .samples = []() -> std::vector<Sample<RootAttrs>> {
      return {
          sample<RootAttrs>({{f64({3}), {1, -2, 0.5}}, some_ranks(1), some_token()}).expects({{1, -2, 0.5}}).exact(),
          sample<RootAttrs>({f64({2, 3}), some_ranks(4), some_token()}, {3}),
          sample<RootAttrs>({f32({2}), SampleOperand(Type(communicator(0)), Fill::uniform), some_token()})
              .breaking("C1"),
          sample<RootAttrs>({f32({2}), some_ranks(2), some_token()}, {2}).breaking("C2"),
          sample<RootAttrs>({f32({2}), some_ranks(2), some_token()}, {-1}).breaking("C2")};
    }};

}  // namespace rlx::ops
