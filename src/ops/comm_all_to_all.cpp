#include "ops/communication.hpp"

namespace rlx::ops {

constexpr Constraint<AllToAllAttrs> all_to_all_constraints[] = {
    {"C1", "the communicator has one dimension, its ranks, of which there is one at least", has_ranks<AllToAllAttrs>},
    {"C2", "dimension split of x is a multiple of the number of ranks, a constant",
     [](const AllToAllAttrs& a, const Signature& s) { return divides(s, a.split); }},
    {"C3", "0 <= concat < rank(x)",
     [](const AllToAllAttrs& a, const Signature& s) { return axis_within(a.concat, s.rank(0)); }}};

static Types all_to_all_infer(const AllToAllAttrs& a, const Signature& s) { return infer_parts(s, a.split, a.concat); }

static HostValues all_to_all_reference(const AllToAllAttrs& a, const ReferenceCall& c) {
  const HostCommunicator& ranks = host_communicator(c);
  std::vector<HostTensor> parts;
  for (const HostTensor& x : ranks.exchange(c.tensor(0)))
    parts.push_back(part_of(x, a.split, ranks.rank(), ranks.size()));
  return {joined_along(parts, a.concat), HostToken{}};
}

extern const OpDef<AllToAllAttrs> comm_all_to_all_op{
    .name = "comm.all_to_all",
    .doc = "Rank r gets part r, along one dimension, of every rank's value, joined along another in their order.",
    .operands = comm_operands,
    .constraints = all_to_all_constraints,
    .infer = all_to_all_infer,
    .meaning = Extern<AllToAllAttrs>{all_to_all_reference},
    .vjp = Vjp<AllToAllAttrs>{[](const VjpCall<AllToAllAttrs>& c) {
      // Every part goes back where it came from.
      return pull_linear(c, [&](Value t) {
        return again(c, "comm.all_to_all", t, AllToAllAttrs{c.attrs.concat, c.attrs.split}).value;
      });
    }},
    .jvp = push_linear<AllToAllAttrs>,
    .batch =
        [](const BatchCall<AllToAllAttrs>& c) {
          return batch_collective(c, AllToAllAttrs{c.attrs.split + 1, c.attrs.concat + 1});
        },
    .shard = [](const AllToAllAttrs& a,
                const Signature& s) { return shard_positions(s, all_to_all_infer(a, s), {a.split, a.concat}); },
    .cost = cost_moving<all_to_all_infer, 0, AllToAllAttrs>,
    .samples = []() -> std::vector<Sample<AllToAllAttrs>> {
      return {sample<AllToAllAttrs>({{f64({3}), {1, -2, 0.5}}, some_ranks(1), some_token()})
                  .expects({{1, -2, 0.5}})
                  .exact(),
              sample<AllToAllAttrs>({f64({2, 3}), some_ranks(1), some_token()}, {0, 1}),
              sample<AllToAllAttrs>({f64({4, 3}), some_ranks(4), some_token()}, {0, 1}),
              sample<AllToAllAttrs>({i32({4}), some_ranks(2), some_token()}),
              sample<AllToAllAttrs>({f32({2}), SampleOperand(Type(communicator(0)), Fill::uniform), some_token()})
                  .breaking("C1"),
              sample<AllToAllAttrs>({f32({3}), some_ranks(2), some_token()}).breaking("C2"),
              sample<AllToAllAttrs>({f32({4}), some_ranks(2), some_token()}, {0, 1}).breaking("C3")};
    }};

}  // namespace rlx::ops
