// Sums and products of f16 and bf16 are formed in f32 and rounded once; as with reduce_window no attribute names
// another type. Offsets ascend (checked mode refuses others, the type cannot); rows before the first or from the last
// offset on belong to no segment. Ties share a cotangent equally.
#include "ops/combine.hpp"
#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand segment_reduce_operands[] = {{"data", numbers | DTypeSet{DType::boolean}}, {"offsets", index_types}};
constexpr Constraint<SegmentReduceAttrs> segment_reduce_constraints[] = {
    {"C1", "data has at least one dimension, offsets exactly one",
     [](const SegmentReduceAttrs&, const Signature& s) { return Answer(s.rank(0) >= 1 && s.rank(1) == 1); }},
    {"C2", "there is at least one offset",
     [](const SegmentReduceAttrs&, const Signature& s) { return s.less_equal(1, s.shape(1)[0]); }},
    {"C3", "kind is add, min, max or mul and can combine data's dtype",
     [](const SegmentReduceAttrs& a, const Signature& s) {
       return a.kind == Combine::set ? Answer::no("set") : can_combine(a.kind, s.dtype(0));
     }}};

static Types segment_reduce_infer(const SegmentReduceAttrs&, const Signature& s) {
  return {tensor(s.dtype(0), with_front(s.shape(1)[0] - 1, shape_without(s.shape(0), {0})))};
}

static HostValues segment_reduce_reference(const SegmentReduceAttrs& a, const ReferenceCall& c) {
  const HostTensor &data = c.tensor(0), &offsets = c.tensor(1);
  HostTensor y = c.make();
  const HostTensor neutral = identity_of(a.kind, partial_type(a.kind, data.dtype()));
  for_each_position(y.shape(), [&](Position p, std::int64_t i) {
    HostTensor sum = neutral;
    const std::int64_t segment = p[0], end = std::min(offsets.get_i64(segment + 1), data.shape()[0]);
    for (p[0] = std::max<std::int64_t>(0, offsets.get_i64(segment)); p[0] < end; ++p[0])
      combine_element(a.kind, sum, 0, data, flat(p, data.shape()));
    convert_element(y, i, sum, 0);
  });
  return {y};
}

/// The rows of `y` [segments, ...] given to the rows of data: a row of no segment gets `outside`. A row's segment is
/// the number of offsets up to it, found by counting offsets at their rows and adding up; one at the end of the data is
/// at no row.
static Value segment_reduce_spread(Value y, Value offsets, Dim rows, double outside) {
  Builder& b = *y.builder;
  const DType t = offsets.dtype();
  const ScatterAttrs count{{}, {0}, {}, {}, {0}, 1, Combine::add};
  const Value at_a_row = compare(offsets, broadcast(dim_size(b, rows, t), offsets.shape(), {}), Direction::lt);
  const Value at = select(at_a_row, offsets, full_like(offsets, static_cast<double>(dropped_index(t))));
  const Value marks = scatter(full(b, t, {rows}, 0), at, full(b, t, offsets.shape(), 1), count);
  std::vector<std::int64_t> border(static_cast<std::size_t>(y.rank()), 0);
  border[0] = 1;
  return take(pad(y, scalar(b, y.dtype(), outside), border, border), cumsum(marks, 0), 0);
}

/// Elements that attain their segment's extremum, over how many do.
static Value segment_reduce_share(Value data, Value y, Value offsets) {
  const Dim rows = data.shape()[0];
  const Value hit = convert(compare(data, segment_reduce_spread(y, offsets, rows, 0), Direction::eq), data.dtype());
  return div(hit, segment_reduce_spread(segment_reduce(hit, offsets, Combine::add), offsets, rows, 1));
}

/// The product of the other elements of each element's segment: products of those before and of those behind it, which
/// start anew at a segment's border. No division, so zeros are fine.
static Value segment_reduce_others(Value data, Value offsets) {
  Builder& b = *data.builder;
  const Shape shape = data.shape();
  const DType t = offsets.dtype();
  const Value segment = segment_reduce_spread(iota(b, t, {offsets.shape()[0] - 1}, 0), offsets, shape[0], -1);
  const Value one = identity(b, Combine::mul, data.dtype()), none = identity(b, Combine::max, DType::boolean);
  const auto products = [&](bool back) {
    // A row starts anew where its neighbour is of another segment; beyond the ends it does not matter.
    const Value neighbour = pad(segment, scalar(b, t, -2), {back ? -1 : 1}, {back ? 1 : -1});
    const Value border = broadcast(compare(segment, neighbour, Direction::ne), shape, {0});
    const Values xs{border, data}, neutral{none, one};
    const Value before = associative_scan(xs, neutral, {.axis = 0, .reverse = back, .exclusive = true}, [](ValuesIn v) {
      return Values{logical_or(v[0], v[2]), select(v[2], v[3], mul(v[1], v[3]))};
    })[1];
    return select(border, full_like(data, 1), before);
  };
  return mul(products(false), products(true));
}

/// d result / d data, for all combinations but add.
static Value segment_reduce_slope(Combine kind, Value data, Value y, Value offsets) {
  return kind == Combine::mul ? segment_reduce_others(data, offsets) : segment_reduce_share(data, y, offsets);
}

static Values segment_reduce_vjp(const VjpCall<SegmentReduceAttrs>& c) {
  if (!c.wanted[0]) return {Value{}, Value{}};
  const Value t = segment_reduce_spread(c.cotangent[0], c.in[1], c.in[0].shape()[0], 0);
  if (c.attrs.kind == Combine::add) return {t, Value{}};
  return {mul(t, conj(segment_reduce_slope(c.attrs.kind, c.in[0], c.out[0], c.in[1]))), Value{}};
}
static Values segment_reduce_jvp(const JvpCall<SegmentReduceAttrs>& c) {
  if (!c.tangent[0]) return {Value{}};
  const Value t = c.attrs.kind == Combine::add
                      ? c.tangent[0]
                      : mul(c.tangent[0], segment_reduce_slope(c.attrs.kind, c.in[0], c.out[0], c.in[1]));
  return {segment_reduce(t, c.in[1], Combine::add)};
}

// Equal offsets: the batch is one more trailing dimension. Else all data in one row of segments, offsets raised by the
// rows of the members before; the segment from one member's last offset to the next one's first is cut away.
static Batched segment_reduce_batch(const BatchCall<SegmentReduceAttrs>& c) {
  if (c.axes[1] < 0) return {{segment_reduce(move_axis(c.in[0], c.axes[0], 1), c.in[1], c.attrs.kind)}, {1}};
  Builder& b = c.b;
  const Value data = lead(c.in[0], c.axes[0], c.size), offsets = lead(c.in[1], c.axes[1], c.size);
  const Shape shape = data.shape(), at = offsets.shape();
  const DType t = offsets.dtype();
  const auto member = [&](Dim rows) {
    return mul(iota(b, t, at, 0), broadcast(dim_size(b, std::move(rows), t), at, {}));
  };
  const Value ends = reshape(dim_size(b, shape[0] * shape[1], t), {1});
  const Value all = concat(Values{reshape(add(offsets, member(shape[1])), {at[0] * at[1]}), ends}, 0);
  Shape rows(shape.begin() + 1, shape.end());
  rows[0] = shape[0] * shape[1];
  Shape split = with_front(c.size, shape_without(shape, {0}));
  split[1] = at[1];
  const Value y = reshape(segment_reduce(reshape(data, rows), all, c.attrs.kind), split);
  return {{slice_axis(y, 1, 0, at[1] - 1)}, {0}};
}

static ShardRule segment_reduce_shard(const SegmentReduceAttrs& a, const Signature& s) {
  ShardRule r = shard_positions(s, segment_reduce_infer(a, s), {0});
  r.operands[1] = {-1};
  r.results[0][0] = -1;
  return r;
}

extern const OpDef<SegmentReduceAttrs> segment_reduce_op{
    .name = "segment_reduce",
    .doc =
        "Combines the rows offsets[i] .. offsets[i + 1] - 1 of data into row i; sums and products of f16 and bf16 are "
        "formed in f32 and rounded once.",
    .operands = segment_reduce_operands,
    .constraints = segment_reduce_constraints,
    .infer = segment_reduce_infer,
    .meaning = Primitive<SegmentReduceAttrs>{segment_reduce_reference},
    .vjp = Vjp<SegmentReduceAttrs>{segment_reduce_vjp},
    .jvp = segment_reduce_jvp,
    .batch = segment_reduce_batch,
    .shard = segment_reduce_shard,
    .cost = cost_consuming<segment_reduce_infer, 1, SegmentReduceAttrs>,
    .samples = []() -> std::vector<Sample<SegmentReduceAttrs>> {
      using S = SegmentReduceAttrs;
      const SampleOperand five{i32({4}), {0, 2, 2, 5}}, inner{i64({3}), {1, 2, 4}}, x{f64({5, 2})},
          apart{f64({5, 2}), Fill::distinct};
      const SampleOperand line{f32({5}), {1, 2, 3, 4, 5}};
      return {sample<S>({x, five}, {Combine::add}),
              sample<S>({x, inner}, {Combine::add}),
              sample<S>({apart, {i32({3}), {0, 2, 5}}}, {Combine::max}),
              sample<S>({apart, inner}, {Combine::min}),
              sample<S>({x, five}, {Combine::mul}),
              sample<S>({x, inner}, {Combine::mul}),
              sample<S>({{f64({5}), {0, 2, 3, 0, 0}}, five}, {Combine::mul}),
              sample<S>({line, five}, {Combine::add}).expects({{3, 0, 12}}).exact(),
              sample<S>({line, inner}, {Combine::add}).expects({{2, 7}}).exact(),
              sample<S>({line, five}, {Combine::mul}).expects({{2, 1, 60}}).exact().without_gradients(),
              sample<S>({line, five}, {Combine::max}).expects({{2, -INFINITY, 5}}).exact().without_gradients(),
              sample<S>({{tensor(DType::i8, {2}), {3, 2}}, {i32({3}), {0, 0, 2}}}, {Combine::min})
                  .expects({{127, 2}})
                  .exact(),
              sample<S>({{boolean({4}), {1, 0, 1, 1}}, {i32({4}), {0, 2, 4, 4}}}, {Combine::min})
                  .expects({{0, 1, 1}})
                  .exact(),
              sample<S>({{boolean({4}), {0, 1, 0, 0}}, {i32({4}), {0, 2, 4, 4}}}, {Combine::max})
                  .expects({{1, 0, 0}})
                  .exact(),
              sample<S>({f64({0}), {i32({2}), {0, 0}}}),
              sample<S>({f64({3}), {i32({1}), {0}}}),
              sample<S>({f32({}), i32({2})}).breaking("C1"),
              sample<S>({f32({2}), i32({2, 2})}).breaking("C1"),
              sample<S>({f32({2}), i32({0})}).breaking("C2"),
              sample<S>({f32({2}), i32({2})}, {Combine::set}).breaking("C3"),
              sample<S>({boolean({2}), i32({2})}, {Combine::add}).breaking("C3")};
    }};

}  // namespace rlx::ops
