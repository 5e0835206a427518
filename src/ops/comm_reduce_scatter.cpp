#include "ops/communication.hpp"

namespace rlx::ops {

using Scattered = ReduceScatterAttrs;

constexpr Constraint<Scattered> reduce_scatter_constraints[] = {
    {"C1", "the communicator has one dimension, its ranks, of which there is one at least", has_ranks<Scattered>},
    {"C2", "dimension axis of x is a multiple of the number of ranks, a constant",
     [](const Scattered& a, const Signature& s) { return divides(s, a.axis); }},
    {"C3", "kind combines values of x's dtype",
     [](const Scattered& a, const Signature& s) { return can_reduce(a.kind, s.dtype(0)); }}};

static Types reduce_scatter_infer(const Scattered& a, const Signature& s) { return infer_parts(s, a.axis, -1); }

// Other kinds than sums have the slopes of all_reduce: they are that and a cut.
static void only_sums(const Scattered& a, std::string_view rule) {
  if (a.kind != Combine::add)
    refuse_rule(
        "comm.reduce_scatter", rule,
        "the derivative of a product, minimum or maximum needs the whole result: use comm.all_reduce and a slice");
}

extern const OpDef<Scattered> comm_reduce_scatter_op{
    .name = "comm.reduce_scatter",
    .doc = "The values of all ranks combined, in their order; rank r gets part r along one dimension. Integers wrap.",
    .operands = comm_operands,
    .constraints = reduce_scatter_constraints,
    .infer = reduce_scatter_infer,
    .meaning = Extern<Scattered>{[](const Scattered& a, const ReferenceCall& c) -> HostValues {
      const HostCommunicator& all = host_communicator(c);
      return {part_of(combined_values(a.kind, c), a.axis, all.rank(), all.size()), HostToken{}};
    }},
    .vjp = Vjp<Scattered>{[](const VjpCall<Scattered>& c) {
      only_sums(c.attrs, "vjp");
      return pull_linear(c, [&](Value t) { return again(c, "comm.all_gather", t, AxisAttrs{c.attrs.axis}).value; });
    }},
    .jvp =
        [](const JvpCall<Scattered>& c) {
          only_sums(c.attrs, "jvp");
          return push_linear(c);
        },
    .batch =
        [](const BatchCall<Scattered>& c) { return batch_collective(c, Scattered{c.attrs.axis + 1, c.attrs.kind}); },
    .shard = [](const Scattered& a,
                const Signature& s) { return shard_positions(s, reduce_scatter_infer(a, s), {a.axis}); },
    .cost = cost_consuming<reduce_scatter_infer, 1, Scattered>,
    .samples = []() -> std::vector<Sample<Scattered>> {
      return {
          sample<Scattered>({{f64({3}), {1, -2, 0.5}}, some_ranks(1), some_token()}).expects({{1, -2, 0.5}}).exact(),
          sample<Scattered>({f64({2, 3}), some_ranks(1), some_token()}, {1, Combine::add}),
          sample<Scattered>({{boolean({3}), {1, 0, 1}}, some_ranks(1), some_token()}, {0, Combine::max})
              .expects({{1, 0, 1}})
              .exact()
              .without_gradients(),
          sample<Scattered>({f64({2, 8}), some_ranks(4), some_token()}, {1, Combine::add}),
          sample<Scattered>({i32({4}), some_ranks(2), some_token()}, {0, Combine::max}),
          sample<Scattered>({f32({2}), SampleOperand(Type(communicator(0)), Fill::uniform), some_token()})
              .breaking("C1"),
          sample<Scattered>({f32({3}), some_ranks(2), some_token()}).breaking("C2"),
          sample<Scattered>({f32({4}), some_ranks(2), some_token()}, {1, Combine::add}).breaking("C2"),
          sample<Scattered>(
              {f32({4}), SampleOperand(Type(communicator(Dim::symbol("r") + 1)), Fill::uniform), some_token()})
              .breaking("C2"),
          sample<Scattered>({c64({2}), some_ranks(2), some_token()}, {0, Combine::min}).breaking("C3")};
    }};

}  // namespace rlx::ops
