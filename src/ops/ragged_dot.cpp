#include "ops/contraction.hpp"

namespace rlx::ops {

constexpr Operand ragged_dot_operands[] = {{"lhs", contractible}, {"rhs", contractible}, {"group_sizes", index_types}};
constexpr Constraint<RaggedDotAttrs> ragged_dot_constraints[] = {
    {"C1", "lhs and rhs have one dtype",
     [](const RaggedDotAttrs&, const Signature& s) { return Answer(s.dtype(0) == s.dtype(1)); }},
    {"C2", "lhs is a matrix, rhs one for each group (rows) or a matrix (contract), group_sizes a vector",
     [](const RaggedDotAttrs& a, const Signature& s) {
       return Answer(s.rank(0) == 2 && s.rank(1) == (a.mode == Ragged::rows ? 3 : 2) && s.rank(2) == 1);
     }},
    {"C3",
     "rows: rhs has a matrix for each group, and as many rows each as lhs has columns; contract: lhs and rhs have as "
     "many rows",
     [](const RaggedDotAttrs& a, const Signature& s) {
       if (a.mode == Ragged::contract) return s.equal(s.shape(0)[0], s.shape(1)[0]);
       return s.equal(s.shape(1)[0], s.shape(2)[0]) && s.equal(s.shape(1)[1], s.shape(0)[1]);
     }},
    {"C4", "accumulate is bool (the default) or at least as wide as the operands",
     [](const RaggedDotAttrs& a, const Signature& s) { return widens(a.accumulate, s.dtype(0)); }}};

static Types ragged_dot_infer(const RaggedDotAttrs& a, const Signature& s) {
  if (a.mode == Ragged::rows) return {tensor(s.dtype(0), {s.shape(0)[0], s.shape(1)[2]})};
  return {tensor(s.dtype(0), {s.shape(2)[0], s.shape(0)[1], s.shape(1)[1]})};
}

// Group of each row, -1 for the rows after the last group.
static std::vector<std::int64_t> ragged_groups(const HostTensor& sizes, std::int64_t rows) {
  std::vector<std::int64_t> group;
  for (std::int64_t g = 0; g < sizes.numel(); ++g)
    for (std::int64_t i = 0; i < sizes.get_i64(g) && static_cast<std::int64_t>(group.size()) < rows; ++i)
      group.push_back(g);
  group.resize(static_cast<std::size_t>(rows), -1);
  return group;
}

static HostValues ragged_dot_reference(const RaggedDotAttrs& a, const ReferenceCall& c) {
  const HostTensor &x = c.tensor(0), &y = c.tensor(1);
  HostTensor r = c.make();
  const std::int64_t rows = x.shape()[0], k = x.shape()[1], n = r.shape().back();
  const auto group = ragged_groups(c.tensor(2), rows);
  HostSum sum(x.dtype(), accumulator(a.accumulate, x.dtype()));
  for_each_position(r.shape(), [&](const Position& p, std::int64_t i) {
    if (a.mode == Ragged::rows) {
      const std::int64_t g = group[static_cast<std::size_t>(p[0])];
      for (std::int64_t l = 0; g >= 0 && l < k; ++l) sum.add(x, p[0] * k + l, y, (g * k + l) * n + p[1]);
    } else {
      for (std::int64_t row = 0; row < rows; ++row)
        if (group[static_cast<std::size_t>(row)] == p[0]) sum.add(x, row * k + p[1], y, row * n + p[2]);
    }
    sum.store(r, i);
  });
  return {r};
}

// The two modes are each other's transposed forms.
static Values ragged_dot_vjp(const VjpCall<RaggedDotAttrs>& c) {
  const Value x = conj(c.in[0]), y = conj(c.in[1]), t = c.cotangent[0], sizes = c.in[2];
  RaggedDotAttrs rows = c.attrs, contract = c.attrs;
  rows.mode = Ragged::rows;
  contract.mode = Ragged::contract;
  Values out(3);
  const bool of_rows = c.attrs.mode == Ragged::rows;
  if (c.wanted[0])
    out[0] = of_rows ? ragged_dot(t, transpose(y, {0, 2, 1}), sizes, rows)
                     : ragged_dot(y, transpose(t, {0, 2, 1}), sizes, rows);
  if (c.wanted[1]) out[1] = of_rows ? ragged_dot(x, t, sizes, contract) : ragged_dot(x, t, sizes, rows);
  return out;
}
static Values ragged_dot_jvp(const JvpCall<RaggedDotAttrs>& c) {
  const Value x = c.tangent[0] ? ragged_dot(c.tangent[0], c.in[1], c.in[2], c.attrs) : Value{};
  const Value y = c.tangent[1] ? ragged_dot(c.in[0], c.tangent[1], c.in[2], c.attrs) : Value{};
  return {x && y ? add(x, y) : x ? x : y};
}

/// Rows that each group [members, groups] really has, of `rows`: a negative size is none, and the groups from the one
/// on that no row is left for get less or nothing.
static Value ragged_held(Value sizes, Dim rows) {
  Builder& b = *sizes.builder;
  const Value none = scalar(b, DType::i64, 0), all = dim_size(b, std::move(rows), DType::i64);
  const Value asked = clamp(none, convert(sizes, DType::i64), all);  // So that no sum overflows.
  if (sizes.shape()[1] == Dim(0)) return asked;
  const Value ends = cumsum(asked, 1);
  return sub(clamp(none, ends, all), clamp(none, sub(ends, asked), all));
}

// All members in one row of groups; a group more for each takes the rows that belong to none, which must not be
// multiplied, not even by zeros: they may hold anything.
static Batched ragged_dot_batch(const BatchCall<RaggedDotAttrs>& c) {
  Builder& b = c.b;
  const Value x = lead(c.in[0], c.axes[0], c.size), y = lead(c.in[1], c.axes[1], c.size);
  const Shape xs = x.shape(), ys = y.shape();
  const Value sizes = ragged_held(lead(c.in[2], c.axes[2], c.size), xs[1]);
  const Dim count = sizes.shape()[1];
  const auto merged = [](Value v) {
    Shape s = v.shape();
    s[1] = s[0] * s[1];
    return reshape(v, Shape(s.begin() + 1, s.end()));
  };
  const Value used = reduce_sum(sizes, {1}), rest = sub(broadcast(dim_size(b, xs[1]), {c.size}, {}), used);
  const Value groups = merged(concat(Values{sizes, reshape(rest, {c.size, 1})}, 1));
  if (c.attrs.mode == Ragged::rows) {
    const Value idle = full(b, y.dtype(), {c.size, 1, ys[2], ys[3]}, 0);
    const Value r =
        reshape(ragged_dot(merged(x), merged(concat(Values{y, idle}, 1)), groups, c.attrs), {c.size, xs[1], ys[3]});
    const Shape rows{c.size, xs[1]};
    const Value owned = compare(iota(b, DType::i64, rows, 1), broadcast(used, rows, {0}), Direction::lt);
    return {{select(broadcast(owned, r.shape(), {0, 1}), r, zeros_like(r))}, {0}};
  }
  const Value r = reshape(ragged_dot(merged(x), merged(y), groups, c.attrs), {c.size, count + 1, xs[2], ys[2]});
  return {{slice_axis(r, 1, 0, count)}, {0}};
}

static ShardRule ragged_dot_shard(const RaggedDotAttrs& a, const Signature&) {
  using K = ShardRule::Kind;
  if (a.mode == Ragged::rows)
    return {{{K::whole, 0}, {K::passed, 0}, {K::reduced, 0}}, {{0, 2}, {-1, 2, 1}, {-1}}, {{0, 1}}};
  return {{{K::passed, 0}, {K::passed, 0}}, {{-1, 0}, {-1, 1}, {-1}}, {{-1, 0, 1}}};
}
static Cost ragged_dot_cost(const RaggedDotAttrs& a, const Signature& s) {
  const Dim columns = s.shape(1).back();
  return cost_of(s, ragged_dot_infer(a, s), s.tensor(0).numel() * columns * (is_complex(s.dtype(0)) ? 8 : 2));
}

extern const OpDef<RaggedDotAttrs> ragged_dot_op{
    .name = "ragged_dot",
    .doc =
        "Matrix product with another matrix for each group of rows, or one product for each group. A negative group "
        "size counts as 0, and groups end where the rows do (checked mode refuses both); rows after the last group "
        "count "
        "nowhere, whatever they hold.",
    .operands = ragged_dot_operands,
    .constraints = ragged_dot_constraints,
    .infer = ragged_dot_infer,
    .meaning = Primitive<RaggedDotAttrs>{ragged_dot_reference},
    .vjp = Vjp<RaggedDotAttrs>{ragged_dot_vjp},
    .jvp = ragged_dot_jvp,
    .batch = ragged_dot_batch,
    .shard = ragged_dot_shard,
    .cost = ragged_dot_cost,
    .samples = []() -> std::vector<Sample<RaggedDotAttrs>> {
      using R = RaggedDotAttrs;
      const R contract{Ragged::contract};
      const SampleOperand sizes{i32({3}), {2, 0, 2}}, two{i32({2}), {1, 1}}, x{f32({3, 1}), {1, 2, 3}};
      return {sample<R>({f64({5, 2}), f64({3, 2, 4}), sizes}), sample<R>({f64({5, 2}), f64({5, 3}), sizes}, contract),
              sample<R>({x, {f32({2, 1, 2}), {1, 10, 2, 20}}, two}).expects({{1, 10, 4, 40, 0, 0}}).exact(),
              sample<R>({x, {f32({3, 1}), {4, 5, 6}}, two}, contract).expects({{4, 10}}).exact(),
              // More rows than there are, sizes below 0, and rows of no group that hold what spoils every sum.
              sample<R>({{f64({2, 1}), {1, 2}}, {f64({2, 1, 2}), {1, 10, 2, 20}}, {i32({2}), {1, 2}}})
                  .expects({{1, 10, 4, 40}})
                  .exact(),
              sample<R>({{f64({2, 1}), {1, 2}}, {f64({2, 1, 2}), {1, 10, 2, 20}}, {i64({2}), {-1, 2}}})
                  .expects({{2, 20, 4, 40}})
                  .exact(),
              sample<R>({{f64({2, 1}), {1, 2}}, {f64({2, 1}), {3, 4}}, {i32({3}), {-5, 1, 2147483647}}}, contract)
                  .expects({{0, 3, 8}})
                  .exact(),
              sample<R>({{f64({3, 1}), {1, INFINITY, NAN}}, {f64({2, 1, 2}), {1, 10, 2, 20}}, {i32({2}), {1, 0}}})
                  .expects({{1, 10, 0, 0, 0, 0}})
                  .exact()
                  .without_gradients(),
              sample<R>({{f64({3, 1}), {1, INFINITY, NAN}}, {f64({3, 1}), {2, 0, 1}}, {i32({2}), {1, -1}}}, contract)
                  .expects({{2, 0}})
                  .exact()
                  .without_gradients(),
              sample<R>({f64({0, 2}), f64({1, 2, 2}), {i32({1}), {0}}}),
              sample<R>({f64({2, 2}), f64({0, 2, 1}), i32({0})}), sample<R>({c128({2, 2}), c128({2, 2, 2}), two}),
              sample<R>({f32({5, 2}), f64({3, 2, 4}), sizes}).breaking("C1"),
              sample<R>({f32({5, 2}), f32({2, 4}), sizes}).breaking("C2"),
              sample<R>({f32({5, 2}), f32({3, 3, 4}), sizes}).breaking("C3"),
              sample<R>({f32({5, 2}), f32({2, 2, 4}), sizes}).breaking("C3"),
              sample<R>({f32({5, 2}), f32({4, 2}), sizes}, contract).breaking("C3"),
              sample<R>({f32({5, 2}), f32({3, 2, 4}), sizes}, {Ragged::rows, DType::f16}).breaking("C4")};
    }};

}  // namespace rlx::ops
