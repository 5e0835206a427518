#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand transpose_operands[] = {{"x", storable}};
constexpr Constraint<TransposeAttrs> transpose_constraints[] = {
    {"C1", "permutation has one entry for each dimension of x",
     [](const TransposeAttrs& a, const Signature& s) {
       return has_length(a.permutation.size(), s.rank(0), "permutation");
     }},
    {"C2", "permutation names each dimension once",
     [](const TransposeAttrs& a, const Signature& s) { return axes_distinct(a.permutation, s.rank(0)); }}};

static Types transpose_infer(const TransposeAttrs& a, const Signature& s) {
  Shape shape;
  for (int d : a.permutation) shape.push_back(s.tensor(0).dim(d));
  return {tensor(s.dtype(0), shape)};
}

static HostValues transpose_reference(const TransposeAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor y = c.make();
  Position from(x.shape().size());
  for_each_position(y.shape(), [&](const Position& p, std::int64_t i) {
    for (std::size_t d = 0; d < p.size(); ++d) from[static_cast<std::size_t>(a.permutation[d])] = p[d];
    copy_element(y, i, x, flat(from, x.shape()));
  });
  return {y};
}

static Values transpose_vjp(const VjpCall<TransposeAttrs>& c) {
  return {transpose(c.cotangent[0], inverse_permutation(c.attrs.permutation))};
}
static Values transpose_jvp(const JvpCall<TransposeAttrs>& c) {
  return {c.tangent[0] ? transpose(c.tangent[0], c.attrs.permutation) : Value{}};
}
static Batched transpose_batch(const BatchCall<TransposeAttrs>& c) {
  return {{transpose(lead(c.in[0], c.axes[0], c.size), prepended(0, shifted(c.attrs.permutation)))}, {0}};
}
static ShardRule transpose_shard(const TransposeAttrs& a, const Signature& s) {
  ShardRule r;
  r.factors.resize(a.permutation.size());
  r.operands = {axes_upto(s.rank(0))};
  r.results = {a.permutation};
  return r;
}

extern const OpDef<TransposeAttrs> transpose_op{
    .name = "transpose",
    .doc = "Reorders dimensions: dimension i of the result is dimension permutation[i] of x.",
    .operands = transpose_operands,
    .constraints = transpose_constraints,
    .infer = transpose_infer,
    .meaning = Primitive<TransposeAttrs>{transpose_reference},
    .vjp = Vjp<TransposeAttrs>{transpose_vjp},
    .jvp = transpose_jvp,
    .batch = transpose_batch,
    .shard = transpose_shard,
    .cost = cost_moving<transpose_infer, 0, TransposeAttrs>,
    .samples = []() -> std::vector<Sample<TransposeAttrs>> {
      return {
          sample<TransposeAttrs>({f64({2, 3, 4})}, {{2, 0, 1}}),
          sample<TransposeAttrs>({{f32({2, 3}), {1, 2, 3, 4, 5, 6}}}, {{1, 0}}).expects({{1, 4, 2, 5, 3, 6}}).exact(),
          sample<TransposeAttrs>({{tensor(DType::i4, {2, 2}), {1, 2, 3, 4}}}, {{1, 0}}).expects({{1, 3, 2, 4}}).exact(),
          sample<TransposeAttrs>({f64({})}, {{}}),
          sample<TransposeAttrs>({c128({1, 3})}, {{1, 0}}),
          sample<TransposeAttrs>({f64({0, 3})}, {{1, 0}}),
          sample<TransposeAttrs>({f32({2, 3})}, {{0}}).breaking("C1"),
          sample<TransposeAttrs>({f32({2, 3})}, {{0, 0}}).breaking("C2"),
          sample<TransposeAttrs>({f32({2, 3})}, {{0, 2}}).breaking("C2")};
    },
    .traits = Trait::indexing};

}  // namespace rlx::ops
