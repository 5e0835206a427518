#include "ops/indexing.hpp"
#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand dynamic_slice_operands[] = {{"x", storable}, {"start", index_types, OperandKind::tensor, true}};
constexpr Constraint<DynamicSliceAttrs> dynamic_slice_constraints[] = {
    {"C1", "start is a scalar for each dimension of x, all of one dtype",
     [](const DynamicSliceAttrs&, const Signature& s) { return index_scalars(s, 1, s.shape(0).size()); }},
    {"C2", "sizes has one entry for each dimension of x",
     [](const DynamicSliceAttrs& a, const Signature& s) { return has_length(a.sizes.size(), s.rank(0), "sizes"); }},
    {"C3", "0 <= size <= the dimension", [](const DynamicSliceAttrs& a, const Signature& s) {
       Answer all = true;
       for (std::size_t i = 0; i < a.sizes.size(); ++i)
         all = std::move(all) && s.less_equal(0, a.sizes[i]) && s.less_equal(a.sizes[i], s.shape(0)[i]);
       return all;
     }}};

static Types dynamic_slice_infer(const DynamicSliceAttrs& a, const Signature& s) {
  return {tensor(s.dtype(0), a.sizes)};
}

static HostValues dynamic_slice_reference(const DynamicSliceAttrs&, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor y = c.make();
  const Position start = clamped_starts(c, 1, x.shape(), y.shape());
  for_each_position(y.shape(), [&](Position p, std::int64_t i) {
    for (std::size_t d = 0; d < p.size(); ++d) p[d] += start[d];
    copy_element(y, i, x, flat(p, x.shape()));
  });
  return {y};
}

static Values dynamic_slice_vjp(const VjpCall<DynamicSliceAttrs>& c) {
  Values out(c.in.size());
  if (c.wanted[0]) out[0] = dynamic_update_slice(zeros_like(c.in[0]), c.cotangent[0], c.in.subspan(1));
  return out;
}
static Values dynamic_slice_jvp(const JvpCall<DynamicSliceAttrs>& c) {
  return {c.tangent[0] ? dynamic_slice(c.tangent[0], c.in.subspan(1), c.attrs.sizes) : Value{}};
}

// Starts that differ from member to member make it a gather, whose windows are clamped before: an index that this
// operator clamps is right, one of gather is reported in checked mode.
static Batched dynamic_slice_batch(const BatchCall<DynamicSliceAttrs>& c) {
  const bool same = starts_unbatched(c.axes.subspan(1));
  const Value x = lead(c.in[0], c.axes[0], c.size);
  const int rank = x.rank() - 1;
  if (same) {
    Values start(c.in.begin() + 1, c.in.end());
    if (rank > 0) start.insert(start.begin(), scalar(c.b, start[0].dtype(), 0));
    else return {{x}, {0}};
    return {{dynamic_slice(x, start, with_front(c.size, c.attrs.sizes))}, {0}};
  }
  GatherAttrs g{.operand_batching_dims = {0}, .indices_batching_dims = {0}, .index_vector_dim = 1};
  g.offset_dims = g.start_index_map = shifted(axes_upto(rank));
  g.slice_sizes = with_front(1, c.attrs.sizes);
  const Shape windows = with_front(c.size, c.attrs.sizes);
  return {{gather(x, stacked_starts(c.in.subspan(1), c.axes.subspan(1), x.shape(), windows), g)}, {0}};
}

static ShardRule dynamic_slice_shard(const DynamicSliceAttrs& a, const Signature& s) {
  return shard_positions(s, dynamic_slice_infer(a, s), resized_axes(s.shape(0), a.sizes));
}
static Cost dynamic_slice_cost(const DynamicSliceAttrs& a, const Signature& s) {
  return {0, bytes_of(dynamic_slice_infer(a, s)[0]) * 2};
}

extern const OpDef<DynamicSliceAttrs> dynamic_slice_op{
    .name = "dynamic_slice",
    .doc = "A slice of constant size that starts at computed indices, clamped so that it fits.",
    .operands = dynamic_slice_operands,
    .constraints = dynamic_slice_constraints,
    .infer = dynamic_slice_infer,
    .meaning = Primitive<DynamicSliceAttrs>{dynamic_slice_reference},
    .vjp = Vjp<DynamicSliceAttrs>{dynamic_slice_vjp},
    .jvp = dynamic_slice_jvp,
    .batch = dynamic_slice_batch,
    .shard = dynamic_slice_shard,
    .cost = dynamic_slice_cost,
    .samples = []() -> std::vector<Sample<DynamicSliceAttrs>> {
      const SampleOperand two{i32({}), {2}}, one{i32({}), {1}}, minus{i32({}), {-7}}, far{i64({}), {100}};
      return {sample<DynamicSliceAttrs>({f64({4, 5}), two, one}, {{2, 3}}),
              sample<DynamicSliceAttrs>({{f32({4}), {1, 2, 3, 4}}, one}, {{2}}).expects({{2, 3}}).exact(),
              sample<DynamicSliceAttrs>({{f32({4}), {1, 2, 3, 4}}, far}, {{3}}).expects({{2, 3, 4}}).exact(),
              sample<DynamicSliceAttrs>({{f32({4}), {1, 2, 3, 4}}, minus}, {{1}}).expects({{1}}).exact(),
              sample<DynamicSliceAttrs>({f64({3}), one}, {{0}}),
              sample<DynamicSliceAttrs>({f64({})}),
              sample<DynamicSliceAttrs>({f32({4, 5}), one}, {{2, 3}}).breaking("C1"),
              sample<DynamicSliceAttrs>({f32({4, 5}), one, far}, {{2, 3}}).breaking("C1"),
              sample<DynamicSliceAttrs>({f32({4}), i32({1})}, {{2}}).breaking("C1"),
              sample<DynamicSliceAttrs>({f32({4}), one}, {{2, 2}}).breaking("C2"),
              sample<DynamicSliceAttrs>({f32({4}), one}, {{5}}).breaking("C3"),
              sample<DynamicSliceAttrs>({f32({4}), f32({})}, {{1}}).breaking("dtype")};
    }};

}  // namespace rlx::ops
