#include "ops/sized.hpp"

namespace rlx::ops {

constexpr Operand repeat_operands[] = {{"counts", index_types}};

static Value repeat_wanted(Value counts) {
  return max(convert(counts, DType::i64), zeros(*counts.builder, i64(counts.shape())));
}
static Value repeat_count(Builder&, const SizedAttrs&, ValuesIn in) { return reduce_sum(repeat_wanted(in[0]), {0}); }

// Each element that is repeated at all marks where its run starts; the last mark so far is whose turn it is.
static Values repeat_decompose(Builder& b, const SizedAttrs& a, ValuesIn in) {
  const std::int64_t room = capacity("repeat", a);
  const Value total = within_capacity(repeat_count(b, a, in), "repeat", room);
  const Value none = full(b, a.index, {room}, static_cast<double>(no_place));
  if (room == 0 || in[0].shape()[0] == 0) return {none, none};
  const Value counts = repeat_wanted(in[0]), starts = cumsum(counts, 0, false, true);
  const Value marks = logical_and(compare(counts, zeros_like(counts), Direction::gt),
                                  compare(starts, full_like(starts, static_cast<double>(room)), Direction::lt));
  const Value at = select(marks, starts, full_like(starts, static_cast<double>(dropped_index(DType::i64))));
  const Value marked = scatter(
      zeros(b, tensor(a.index, {room})), at, iota(b, a.index, counts.shape(), 0),
      {.inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1, .kind = Combine::max});
  const Value zero = scalar(b, a.index, 0);
  const Value owner =
      associative_scan({&marked, 1}, {&zero, 1}, {.axis = 0}, [](ValuesIn v) { return Values{max(v[0], v[1])}; })[0];
  const Value place = iota(b, DType::i64, {room}, 0);
  // One more, so that there is something to take where the counts, whose number may be known only then, are none.
  const Value from = pad(starts, scalar(b, starts.dtype(), 0), {0}, {1});
  const Value rank = convert(place - take(from, owner, 0), a.index);
  const Value used = compare(place, broadcast(total, {room}, {}), Direction::lt);
  return {select(used, owner, none), select(used, rank, none)};
}

extern const OpDef<SizedAttrs> repeat_op{
    .name = "repeat",
    .doc =
        "Each position i counts[i] times (negative counts are 0, and refused in checked mode), and how many times it "
        "came before; -1 beyond their sum where `size` is a greater number.",
    .operands = repeat_operands,
    .constraints = sized_constraints,
    .infer = [](const SizedAttrs& a, const Signature&) -> Types {
      return {tensor(a.index, {a.size}), tensor(a.index, {a.size})};
    },
    .meaning = Composite<SizedAttrs>{repeat_decompose},
    .vjp = Vjp<SizedAttrs>{zero_vjp<SizedAttrs>},
    .jvp = zero_jvp<SizedAttrs>,
    .batch = Derived{},
    .shard =
        [](const SizedAttrs&, const Signature&) {
          ShardRule r;
          r.operands = {{-1}};
          r.results = {{-1}, {-1}};
          return r;
        },
    .cost =
        [](const SizedAttrs& a, const Signature& s) {
          return Cost{s.tensor(0).numel() * 4 + a.size * 6, bytes_of(s.types[0]) + bytes_of(a.index, a.size * 2)};
        },
    .samples = []() -> std::vector<Sample<SizedAttrs>> {
      using S = SizedAttrs;
      const SampleOperand counts{i32({5}), {2, 0, 1, -4, 3}};
      return {sample<S>({counts}, {.size = 6}).expects({{0, 0, 2, 4, 4, 4}, {0, 1, 0, 0, 1, 2}}).exact(),
              sample<S>({{i64({2}), {0, 2}}}, {.size = 4, .index = DType::i64})
                  .expects({{1, 1, -1, -1}, {0, 1, -1, -1}})
                  .exact(),
              sample<S>({{i32({30}), Fill::uniform, 0, 3}}, {.size = 90}),
              sample<S>({{i32({3}), {0, 0, 0}}}, {.size = 2}).expects({{-1, -1}, {-1, -1}}).exact(),
              sample<S>({i32({0})}, {.size = 2}).expects({{-1, -1}, {-1, -1}}).exact(),
              sample<S>({{i32({2}), {0, -1}}}, {.size = 0}).expects({{}, {}}).exact(),
              sample<S>({i32({2, 2})}, {.size = 4}).breaking("C1"),
              sample<S>({counts}, {.size = -1}).breaking("C2"),
              sample<S>({counts}, {.size = 2 * Dim::symbol("k")}).breaking("C2"),
              sample<S>({counts}, {.size = 5, .index = DType::f32}).breaking("C3"),
              sample<S>({counts}, {.size = 5, .bound = -2}).breaking("C4"),
              sample<S>({f32({5})}, {.size = 5}).breaking("dtype")};
    },
    .size = {&SizedAttrs::size, repeat_count, [](const SizedAttrs& a, const Signature&) { return a.bound; }}};

}  // namespace rlx::ops
