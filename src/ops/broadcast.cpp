#include "ops/structure.hpp"

#include <algorithm>

namespace rlx::ops {

constexpr Operand broadcast_operands[] = {{"x", storable}};
constexpr Constraint<BroadcastAttrs> broadcast_constraints[] = {
    {"C1", "one axis for each dimension of x",
     [](const BroadcastAttrs& a, const Signature& s) { return has_length(a.axes.size(), s.rank(0), "axes"); }},
    {"C2", "axes ascend within the rank of shape",
     [](const BroadcastAttrs& a, const Signature&) {
       return axes_ascending(a.axes, static_cast<int>(a.shape.size()));
     }},
    {"C3", "each dimension of x is 1 or that of the result", [](const BroadcastAttrs& a, const Signature& s) {
       Answer all = true;
       for (std::size_t i = 0; i < a.axes.size(); ++i)
         if (!(s.shape(0)[i] == 1))
           all = std::move(all) && s.equal(s.shape(0)[i], a.shape[static_cast<std::size_t>(a.axes[i])]);
       return all;
     }}};

static Types broadcast_infer(const BroadcastAttrs& a, const Signature& s) { return {tensor(s.dtype(0), a.shape)}; }

static HostValues broadcast_reference(const BroadcastAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor y = c.make();
  Position from(x.shape().size());
  for_each_position(y.shape(), [&](const Position& p, std::int64_t i) {
    for (std::size_t d = 0; d < from.size(); ++d)
      from[d] = x.shape()[d] == 1 ? 0 : p[static_cast<std::size_t>(a.axes[d])];
    copy_element(y, i, x, flat(from, x.shape()));
  });
  return {y};
}

// Transposed: what was repeated is summed.
static Values broadcast_vjp(const VjpCall<BroadcastAttrs>& c) {
  const Shape x = c.in[0].shape();
  Axes summed = axes_except(static_cast<int>(c.attrs.shape.size()), c.attrs.axes);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] == 1) summed.push_back(c.attrs.axes[i]);
  std::sort(summed.begin(), summed.end());
  return {reshape(reduce_sum(c.cotangent[0], summed), x)};
}

static Values broadcast_jvp(const JvpCall<BroadcastAttrs>& c) {
  return {c.tangent[0] ? broadcast(c.tangent[0], c.attrs.shape, c.attrs.axes) : Value{}};
}

static Batched broadcast_batch(const BatchCall<BroadcastAttrs>& c) {
  const Value x = lead(c.in[0], c.axes[0], c.size);
  return {{broadcast(x, with_front(c.size, c.attrs.shape), prepended(0, shifted(c.attrs.axes)))}, {0}};
}

static ShardRule broadcast_shard(const BroadcastAttrs& a, const Signature& s) {
  ShardRule r;
  r.factors.resize(a.shape.size());
  Axes x;
  for (std::size_t i = 0; i < a.axes.size(); ++i) x.push_back(s.shape(0)[i] == 1 ? -1 : a.axes[i]);
  r.operands = {x};
  r.results = {axes_upto(static_cast<int>(a.shape.size()))};
  return r;
}

extern const OpDef<BroadcastAttrs> broadcast_op{
    .name = "broadcast",
    .doc = "Repeats x along new dimensions and along those of size 1.",
    .operands = broadcast_operands,
    .constraints = broadcast_constraints,
    .infer = broadcast_infer,
    .meaning = Primitive<BroadcastAttrs>{broadcast_reference},
    .vjp = Vjp<BroadcastAttrs>{broadcast_vjp},
    .jvp = broadcast_jvp,
    .batch = broadcast_batch,
    .shard = broadcast_shard,
    .cost = cost_moving<broadcast_infer, 0, BroadcastAttrs>,
    .samples = []() -> std::vector<Sample<BroadcastAttrs>> {
      return {sample<BroadcastAttrs>({f64({2, 1})}, {{3, 2, 4}, {1, 2}}),
              sample<BroadcastAttrs>({{f32({2}), {1, 2}}}, {{2, 3}, {0}}).expects({{1, 1, 1, 2, 2, 2}}).exact(),
              sample<BroadcastAttrs>({{f32({1, 2}), {1, 2}}}, {{2, 2}, {0, 1}}).expects({{1, 2, 1, 2}}).exact(),
              sample<BroadcastAttrs>({{tensor(DType::boolean, {}), {1}}}, {{3}, {}}).expects({{1, 1, 1}}).exact(),
              sample<BroadcastAttrs>({{tensor(DType::i4, {1}), {-3}}}, {{3}, {0}}).expects({{-3, -3, -3}}).exact(),
              sample<BroadcastAttrs>({f64({1})}, {{0}, {0}}),
              sample<BroadcastAttrs>({f64({0})}, {{2, 0}, {1}}),
              sample<BroadcastAttrs>({c64({2})}, {{2, 2}, {1}}),
              sample<BroadcastAttrs>({f32({2, 3})}, {{2, 3}, {1}}).breaking("C1"),
              sample<BroadcastAttrs>({f32({2, 3})}, {{3, 2}, {1, 0}}).breaking("C2"),
              sample<BroadcastAttrs>({f32({2})}, {{2, 3}, {2}}).breaking("C2"),
              sample<BroadcastAttrs>({f32({2})}, {{2, 3}, {1}}).breaking("C3")};
    },
    .traits = Trait::indexing};

}  // namespace rlx::ops
