#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand reverse_operands[] = {{"x", storable}};
constexpr Constraint<AxesAttrs> reverse_constraints[] = {
    {"C1", "axes ascend within the rank of x",
     [](const AxesAttrs& a, const Signature& s) { return axes_ascending(a.axes, s.rank(0)); }}};

static HostValues reverse_reference(const AxesAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor y = c.make();
  for_each_position(y.shape(), [&](const Position& p, std::int64_t i) {
    Position from = p;
    for (int axis : a.axes) {
      const auto d = static_cast<std::size_t>(axis);
      from[d] = x.shape()[d] - 1 - p[d];
    }
    copy_element(y, i, x, flat(from, x.shape()));
  });
  return {y};
}

static Values reverse_vjp(const VjpCall<AxesAttrs>& c) { return {reverse(c.cotangent[0], c.attrs.axes)}; }
static Values reverse_jvp(const JvpCall<AxesAttrs>& c) {
  return {c.tangent[0] ? reverse(c.tangent[0], c.attrs.axes) : Value{}};
}
static Batched reverse_batch(const BatchCall<AxesAttrs>& c) {
  return {{reverse(lead(c.in[0], c.axes[0], c.size), shifted(c.attrs.axes))}, {0}};
}
static ShardRule reverse_shard(const AxesAttrs& a, const Signature& s) {
  return shard_positions(s, infer_first<AxesAttrs>(a, s), a.axes);
}

extern const OpDef<AxesAttrs> reverse_op{
    .name = "reverse",
    .doc = "Reverses the order of elements along the given dimensions.",
    .operands = reverse_operands,
    .constraints = reverse_constraints,
    .infer = infer_first<AxesAttrs>,
    .meaning = Primitive<AxesAttrs>{reverse_reference},
    .vjp = Vjp<AxesAttrs>{reverse_vjp},
    .jvp = reverse_jvp,
    .batch = reverse_batch,
    .shard = reverse_shard,
    .cost = cost_moving<infer_first<AxesAttrs>, 0, AxesAttrs>,
    .samples = []() -> std::vector<Sample<AxesAttrs>> {
      return {sample<AxesAttrs>({f64({3, 4})}, {{0}}),
              sample<AxesAttrs>({f64({2, 1, 3})}, {{0, 2}}),
              sample<AxesAttrs>({{f32({3}), {1, 2, 3}}}, {{0}}).expects({{3, 2, 1}}).exact(),
              sample<AxesAttrs>({{tensor(DType::i4, {2, 2}), {1, 2, 3, 4}}}, {{0, 1}}).expects({{4, 3, 2, 1}}).exact(),
              sample<AxesAttrs>({f64({2})}),
              sample<AxesAttrs>({f64({0})}, {{0}}),
              sample<AxesAttrs>({f32({3})}, {{1}}).breaking("C1"),
              sample<AxesAttrs>({f32({3, 3})}, {{1, 0}}).breaking("C1"),
              sample<AxesAttrs>({f32({3})}, {{0, 0}}).breaking("C1")};
    },
    .traits = Trait::indexing};

}  // namespace rlx::ops
