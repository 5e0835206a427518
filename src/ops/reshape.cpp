#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand reshape_operands[] = {{"x", storable}};
constexpr Constraint<ReshapeAttrs> reshape_constraints[] = {
    {"C1", "shape has as many elements as x",
     [](const ReshapeAttrs& a, const Signature& s) { return s.equal(s.tensor(0).numel(), element_count(a.shape)); }}};

static Types reshape_infer(const ReshapeAttrs& a, const Signature& s) { return {tensor(s.dtype(0), a.shape)}; }

static HostValues reshape_reference(const ReshapeAttrs&, const ReferenceCall& c) {
  return {c.tensor(0).reshaped(constant_shape(c.result().shape))};
}

static Values reshape_vjp(const VjpCall<ReshapeAttrs>& c) { return {reshape(c.cotangent[0], c.in[0].shape())}; }
static Values reshape_jvp(const JvpCall<ReshapeAttrs>& c) {
  return {c.tangent[0] ? reshape(c.tangent[0], c.attrs.shape) : Value{}};
}
static Batched reshape_batch(const BatchCall<ReshapeAttrs>& c) {
  return {{reshape(lead(c.in[0], c.axes[0], c.size), with_front(c.size, c.attrs.shape))}, {0}};
}

// Leading and trailing dimensions that stay may be cut; those between are kept whole.
static ShardRule reshape_shard(const ReshapeAttrs& a, const Signature& s) {
  const Shape& x = s.shape(0);
  const Shape& y = a.shape;
  ShardRule r;
  Axes from(x.size(), -1), to(y.size(), -1);
  const auto pair = [&](std::size_t i, std::size_t j) {
    from[i] = to[j] = static_cast<int>(r.factors.size());
    r.factors.emplace_back();
  };
  std::size_t head = 0, tail = 0;
  const std::size_t least = std::min(x.size(), y.size());
  while (head < least && x[head] == y[head]) pair(head, head), ++head;
  while (tail < least - head && x[x.size() - 1 - tail] == y[y.size() - 1 - tail])
    pair(x.size() - 1 - tail, y.size() - 1 - tail), ++tail;
  r.operands = {from};
  r.results = {to};
  return r;
}

extern const OpDef<ReshapeAttrs> reshape_op{
    .name = "reshape",
    .doc = "The same elements in row-major order under another shape.",
    .operands = reshape_operands,
    .constraints = reshape_constraints,
    .infer = reshape_infer,
    .meaning = Primitive<ReshapeAttrs>{reshape_reference},
    .vjp = Vjp<ReshapeAttrs>{reshape_vjp},
    .jvp = reshape_jvp,
    .batch = reshape_batch,
    .shard = reshape_shard,
    .cost = cost_moving<reshape_infer, 0, ReshapeAttrs>,
    .samples = []() -> std::vector<Sample<ReshapeAttrs>> {
      return {sample<ReshapeAttrs>({f64({2, 6})}, {{3, 4}}),
              sample<ReshapeAttrs>({{f32({2, 3}), {1, 2, 3, 4, 5, 6}}}, {{3, 2}}).expects({{1, 2, 3, 4, 5, 6}}).exact(),
              sample<ReshapeAttrs>({{f16({1}), {7}}}, {{}}).expects({{7}}).exact(),
              sample<ReshapeAttrs>({f64({})}, {{1, 1}}),
              sample<ReshapeAttrs>({f64({0, 3})}, {{5, 0}}),
              sample<ReshapeAttrs>({f32({2, 3})}, {{4}}).breaking("C1")};
    },
    .traits = Trait::indexing};

}  // namespace rlx::ops
