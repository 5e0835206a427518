#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand slice_operands[] = {{"x", storable}};
constexpr Constraint<SliceAttrs> slice_constraints[] = {
    {"C1", "start and limit have one entry for each dimension, and stride has too or is empty",
     [](const SliceAttrs& a, const Signature& s) {
       return has_length(a.start.size(), s.rank(0), "start") && has_length(a.limit.size(), s.rank(0), "limit") &&
              empty_or_length(a.stride.size(), s.rank(0), "stride");
     }},
    {"C2", "strides are positive",
     [](const SliceAttrs& a, const Signature&) {
       for (std::int64_t v : a.stride)
         if (v <= 0) return Answer::no("stride " + std::to_string(v));
       return Answer(true);
     }},
    {"C3", "0 <= start <= limit <= the dimension", [](const SliceAttrs& a, const Signature& s) {
       Answer all = true;
       for (std::size_t i = 0; i < a.start.size(); ++i)
         all = std::move(all) && s.less_equal(0, a.start[i]) && s.less_equal(a.start[i], a.limit[i]) &&
               s.less_equal(a.limit[i], s.shape(0)[i]);
       return all;
     }}};

static Types slice_infer(const SliceAttrs& a, const Signature& s) {
  Shape shape;
  for (std::size_t i = 0; i < a.start.size(); ++i) {
    const std::int64_t step = entry(a.stride, i, 1);
    shape.push_back(step == 1 ? a.limit[i] - a.start[i] : floordiv(a.limit[i] - a.start[i] + (step - 1), step));
  }
  return {tensor(s.dtype(0), shape)};
}

static HostValues slice_reference(const SliceAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor y = c.make();
  const Position start = constant_shape(a.start);
  Position from(start.size());
  for_each_position(y.shape(), [&](const Position& p, std::int64_t i) {
    for (std::size_t d = 0; d < p.size(); ++d) from[d] = start[d] + p[d] * entry(a.stride, d, 1);
    copy_element(y, i, x, flat(from, x.shape()));
  });
  return {y};
}

// Transposed: zeros between strided elements, then around them.
static Values slice_vjp(const VjpCall<SliceAttrs>& c) {
  Builder& b = c.b;
  const TensorType x = c.in[0].tensor();
  Value t = c.cotangent[0];
  const std::size_t rank = x.shape.size();
  if (element_count(t.shape()) == 0) return {zeros(b, x)};
  bool strided = false;
  for (std::int64_t v : c.attrs.stride) strided |= v > 1;
  if (strided) {
    std::vector<std::int64_t> none(rank, 0), between;
    for (std::size_t i = 0; i < rank; ++i) between.push_back(c.attrs.stride[i] - 1);
    t = pad(t, scalar(b, x.dtype, 0), none, none, between);
  }
  for (std::size_t i = 0; i < rank; ++i) t = extend(t, static_cast<int>(i), c.attrs.start[i], x.shape[i]);
  return {t};
}

static Values slice_jvp(const JvpCall<SliceAttrs>& c) {
  return {c.tangent[0] ? slice(c.tangent[0], c.attrs.start, c.attrs.limit, c.attrs.stride) : Value{}};
}
static Batched slice_batch(const BatchCall<SliceAttrs>& c) {
  const Value x = lead(c.in[0], c.axes[0], c.size);
  return {
      {slice(x, prepended<Dim>(0, c.attrs.start), prepended(c.size, c.attrs.limit), batch_entry(c.attrs.stride, 1))},
      {0}};
}
static ShardRule slice_shard(const SliceAttrs& a, const Signature& s) {
  Axes cut;
  for (std::size_t i = 0; i < a.start.size(); ++i)
    if (!(a.start[i] == 0 && a.limit[i] == s.shape(0)[i] && entry(a.stride, i, 1) == 1))
      cut.push_back(static_cast<int>(i));
  return shard_positions(s, slice_infer(a, s), cut);
}
// Only what is kept is read.
static Cost slice_cost(const SliceAttrs& a, const Signature& s) { return {0, bytes_of(slice_infer(a, s)[0]) * 2}; }

extern const OpDef<SliceAttrs> slice_op{
    .name = "slice",
    .doc = "The elements start, start + stride, ... below limit of each dimension.",
    .operands = slice_operands,
    .constraints = slice_constraints,
    .infer = slice_infer,
    .meaning = Primitive<SliceAttrs>{slice_reference},
    .vjp = Vjp<SliceAttrs>{slice_vjp},
    .jvp = slice_jvp,
    .batch = slice_batch,
    .shard = slice_shard,
    .cost = slice_cost,
    .samples = []() -> std::vector<Sample<SliceAttrs>> {
      return {sample<SliceAttrs>({f64({5, 4})}, {{1, 0}, {4, 4}, {}}),
              sample<SliceAttrs>({f64({7, 3})}, {{1, 1}, {7, 2}, {3, 2}}),
              sample<SliceAttrs>({{f32({5}), {0, 1, 2, 3, 4}}}, {{1}, {5}, {2}}).expects({{1, 3}}).exact(),
              sample<SliceAttrs>({{tensor(DType::i4, {3}), {1, -2, 3}}}, {{1}, {3}, {}}).expects({{-2, 3}}).exact(),
              sample<SliceAttrs>({f64({3})}, {{2}, {2}, {}}),
              sample<SliceAttrs>({f64({0, 2})}, {{0, 0}, {0, 2}, {2, 1}}),
              sample<SliceAttrs>({f64({})}),
              sample<SliceAttrs>({f32({3, 3})}, {{0}, {1}, {}}).breaking("C1"),
              sample<SliceAttrs>({f32({3})}, {{0}, {3}, {1, 1}}).breaking("C1"),
              sample<SliceAttrs>({f32({3})}, {{0}, {3}, {0}}).breaking("C2"),
              sample<SliceAttrs>({f32({3})}, {{0}, {4}, {}}).breaking("C3"),
              sample<SliceAttrs>({f32({3})}, {{2}, {1}, {}}).breaking("C3"),
              sample<SliceAttrs>({f32({3})}, {{-1}, {1}, {}}).breaking("C3")};
    },
    .traits = Trait::indexing};

}  // namespace rlx::ops
