#include "ops/indexing.hpp"
#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand dynamic_update_slice_operands[] = {
    {"x", storable}, {"update", storable}, {"start", index_types, OperandKind::tensor, true}};
constexpr Constraint<NoAttributes> dynamic_update_slice_constraints[] = {
    {"C1", "update has the dtype and rank of x",
     [](const NoAttributes&, const Signature& s) {
       return Answer(s.dtype(0) == s.dtype(1) && s.rank(0) == s.rank(1));
     }},
    {"C2", "start is a scalar for each dimension of x, all of one dtype",
     [](const NoAttributes&, const Signature& s) { return index_scalars(s, 2, s.shape(0).size()); }},
    {"C3", "no dimension of update exceeds x's", [](const NoAttributes&, const Signature& s) {
       Answer all = true;
       for (std::size_t i = 0; i < s.shape(0).size(); ++i)
         all = std::move(all) && s.less_equal(s.shape(1)[i], s.shape(0)[i]);
       return all;
     }}};

static HostValues dynamic_update_slice_reference(const NoAttributes&, const ReferenceCall& c) {
  HostTensor y = c.tensor(0);
  const HostTensor& update = c.tensor(1);
  const Position start = clamped_starts(c, 2, y.shape(), update.shape());
  for_each_position(update.shape(), [&](Position p, std::int64_t i) {
    for (std::size_t d = 0; d < p.size(); ++d) p[d] += start[d];
    copy_element(y, flat(p, y.shape()), update, i);
  });
  return {y};
}

static Values dynamic_update_slice_vjp(const VjpCall<NoAttributes>& c) {
  Values out(c.in.size());
  const auto start = c.in.subspan(2);
  if (c.wanted[0]) out[0] = dynamic_update_slice(c.cotangent[0], zeros_like(c.in[1]), start);
  if (c.wanted[1]) out[1] = dynamic_slice(c.cotangent[0], start, c.in[1].shape());
  return out;
}

static Values dynamic_update_slice_jvp(const JvpCall<NoAttributes>& c) {
  if (!c.tangent[0] && !c.tangent[1]) return {Value{}};
  const Value x = c.tangent[0] ? c.tangent[0] : zeros_like(c.in[0]);
  const Value u = c.tangent[1] ? c.tangent[1] : zeros_like(c.in[1]);
  return {dynamic_update_slice(x, u, c.in.subspan(2))};
}

// Starts that differ from member to member make it a scatter.
static Batched dynamic_update_slice_batch(const BatchCall<NoAttributes>& c) {
  const Value x = lead(c.in[0], c.axes[0], c.size), update = lead(c.in[1], c.axes[1], c.size);
  const auto starts = c.in.subspan(2);
  const int rank = x.rank() - 1;
  if (rank == 0) return {{update}, {0}};
  if (starts_unbatched(c.axes.subspan(2))) {
    Values start(starts.begin(), starts.end());
    start.insert(start.begin(), scalar(c.b, start[0].dtype(), 0));
    return {{dynamic_update_slice(x, update, start)}, {0}};
  }
  ScatterAttrs a{.input_batching_dims = {0}, .indices_batching_dims = {0}, .index_vector_dim = 1, .kind = Combine::set};
  a.update_window_dims = a.scatter_dims_to_operand_dims = shifted(axes_upto(rank));
  return {{scatter(x, stacked_starts(starts, c.axes.subspan(2), x.shape(), update.shape()), update, a)}, {0}};
}

static ShardRule dynamic_update_slice_shard(const NoAttributes& a, const Signature& s) {
  return shard_positions(s, infer_first<>(a, s), resized_axes(s.shape(0), s.shape(1)));
}
// In place only the update moves.
static Cost dynamic_update_slice_cost(const NoAttributes&, const Signature& s) { return {0, bytes_of(s.types[1]) * 2}; }

extern const OpDef<NoAttributes> dynamic_update_slice_op{
    .name = "dynamic_update_slice",
    .doc = "x with update written at computed indices, clamped so that it fits.",
    .operands = dynamic_update_slice_operands,
    .constraints = dynamic_update_slice_constraints,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{dynamic_update_slice_reference},
    .vjp = Vjp<NoAttributes>{dynamic_update_slice_vjp},
    .jvp = dynamic_update_slice_jvp,
    .batch = dynamic_update_slice_batch,
    .shard = dynamic_update_slice_shard,
    .cost = dynamic_update_slice_cost,
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      const SampleOperand one{i32({}), {1}}, minus{i32({}), {-7}}, far{i64({}), {100}};
      return {sample<NoAttributes>({f64({4, 5}), f64({2, 3}), one, one}),
              sample<NoAttributes>({{f32({4}), {1, 2, 3, 4}}, {f32({2}), {8, 9}}, one}).expects({{1, 8, 9, 4}}).exact(),
              sample<NoAttributes>({{f32({4}), {1, 2, 3, 4}}, {f32({2}), {8, 9}}, far}).expects({{1, 2, 8, 9}}).exact(),
              sample<NoAttributes>({{f32({3}), {1, 2, 3}}, {f32({1}), {8}}, minus}).expects({{8, 2, 3}}).exact(),
              sample<NoAttributes>({f64({3}), f64({0}), one}),
              sample<NoAttributes>({f64({}), f64({})}),
              sample<NoAttributes>({f32({3}), f64({1}), one}).breaking("C1"),
              sample<NoAttributes>({f32({3}), f32({}), one}).breaking("C1"),
              sample<NoAttributes>({f32({3}), f32({1})}).breaking("C2"),
              sample<NoAttributes>({f32({3}), f32({4}), one}).breaking("C3")};
    }};

}  // namespace rlx::ops
