#include "ops/communication.hpp"

#include <set>

namespace rlx::ops {

static Answer distinct_ranks(const std::vector<std::int64_t>& list, const Signature& s) {
  Answer all = true;
  for (std::int64_t r : list) all = std::move(all) && is_rank(r, s);
  if (std::set(list.begin(), list.end()).size() != list.size()) return Answer::no("a rank is named twice");
  return all;
}

constexpr Constraint<PermuteAttrs> permute_constraints[] = {
    {"C1", "the communicator has one dimension, its ranks, of which there is one at least", has_ranks<PermuteAttrs>},
    {"C2", "there is a target for every source",
     [](const PermuteAttrs& a, const Signature&) { return Answer(a.source.size() == a.target.size()); }},
    {"C3", "sources are ranks, each named once",
     [](const PermuteAttrs& a, const Signature& s) { return distinct_ranks(a.source, s); }},
    {"C4", "targets are ranks, each named once",
     [](const PermuteAttrs& a, const Signature& s) { return distinct_ranks(a.target, s); }}};

static HostValues permute_reference(const PermuteAttrs& a, const ReferenceCall& c) {
  const HostCommunicator& ranks = host_communicator(c);
  const std::vector<HostTensor> all = ranks.exchange(c.tensor(0));
  HostTensor y = c.make();
  for (std::size_t i = 0; i < a.target.size(); ++i)
    if (a.target[i] == ranks.rank()) y = all[static_cast<std::size_t>(a.source[i])];
  return {y, HostToken{}};
}

extern const OpDef<PermuteAttrs> comm_permute_op{
    .name = "comm.permute",
    .doc = "Pairs of ranks of which one sends its value to the other; who receives nothing gets zeros.",
    .operands = comm_operands,
    .constraints = permute_constraints,
    .infer = infer_like_x<PermuteAttrs>,
    .meaning = Extern<PermuteAttrs>{permute_reference},
    .vjp = Vjp<PermuteAttrs>{[](const VjpCall<PermuteAttrs>& c) {
      return pull_linear(
          c, [&](Value t) { return again(c, "comm.permute", t, PermuteAttrs{c.attrs.target, c.attrs.source}).value; });
    }},
    .jvp = push_linear<PermuteAttrs>,
    .batch = [](const BatchCall<PermuteAttrs>& c) { return batch_collective(c, c.attrs); },
    .shard = [](const PermuteAttrs& a, const Signature& s) { return shard_positions(s, infer_like_x(a, s), {}); },
    .cost = cost_moving<infer_like_x<PermuteAttrs>, 0, PermuteAttrs>,
    .samples = []() -> std::vector<Sample<PermuteAttrs>> {
      using P = PermuteAttrs;
      const SampleOperand x{f64({3}), {1, -2, 0.5}};
      return {sample<P>({x, some_ranks(1), some_token()}, {{0}, {0}}).expects({{1, -2, 0.5}}).exact(),
              sample<P>({x, some_ranks(1), some_token()}).expects({{0, 0, 0}}).exact(),
              sample<P>({f64({2, 3}), some_ranks(4), some_token()}, {{0, 1, 2}, {1, 2, 3}}),
              sample<P>({f64({2}), some_ranks(4), some_token()}),
              sample<P>({f32({2}), SampleOperand(Type(communicator(0)), Fill::uniform), some_token()}).breaking("C1"),
              sample<P>({f32({2}), some_ranks(2), some_token()}, {{0, 1}, {1}}).breaking("C2"),
              sample<P>({f32({2}), some_ranks(2), some_token()}, {{0, 2}, {1, 0}}).breaking("C3"),
              sample<P>({f32({2}), some_ranks(2), some_token()}, {{0, 0}, {1, 0}}).breaking("C3"),
              sample<P>({f32({2}), some_ranks(2), some_token()}, {{0, 1}, {-1, 0}}).breaking("C4"),
              sample<P>({f32({2}), some_ranks(2), some_token()}, {{0, 1}, {1, 1}}).breaking("C4")};
    }};

}  // namespace rlx::ops
