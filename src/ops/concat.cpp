#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand concat_operands[] = {{"xs", storable, OperandKind::tensor, true}};
constexpr Constraint<AxisAttrs> concat_constraints[] = {
    {"C1", "there is an operand, and all have one dtype and one rank",
     [](const AxisAttrs&, const Signature& s) {
       if (s.size() == 0) return Answer::no("none");
       for (std::size_t i = 1; i < s.size(); ++i)
         if (s.dtype(i) != s.dtype(0) || s.rank(i) != s.rank(0))
           return Answer::no(to_string(s.types[i]) + " and " + to_string(s.types[0]));
       return Answer(true);
     }},
    {"C2", "0 <= axis < rank", [](const AxisAttrs& a, const Signature& s) { return axis_within(a.axis, s.rank(0)); }},
    {"C3", "dimensions other than axis are equal", [](const AxisAttrs& a, const Signature& s) {
       Answer all = true;
       for (std::size_t i = 1; i < s.size(); ++i)
         all = std::move(all) && s.same_shape(shape_without(s.shape(i), {a.axis}), shape_without(s.shape(0), {a.axis}));
       return all;
     }}};

static Types concat_infer(const AxisAttrs& a, const Signature& s) {
  const auto axis = static_cast<std::size_t>(a.axis);
  Shape shape = s.shape(0);
  for (std::size_t i = 1; i < s.size(); ++i) shape[axis] = shape[axis] + s.shape(i)[axis];
  return {tensor(s.dtype(0), shape)};
}

static HostValues concat_reference(const AxisAttrs& a, const ReferenceCall& c) {
  HostTensor y = c.make();
  const auto axis = static_cast<std::size_t>(a.axis);
  std::int64_t start = 0;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const HostTensor& x = c.tensor(k);
    for_each_position(x.shape(), [&](Position p, std::int64_t i) {
      p[axis] += start;
      copy_element(y, flat(p, y.shape()), x, i);
    });
    start += x.shape()[axis];
  }
  return {y};
}

static Values concat_vjp(const VjpCall<AxisAttrs>& c) {
  Values out(c.in.size());
  Dim start = 0;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    const Dim limit = start + c.in[i].tensor().dim(c.attrs.axis);
    if (c.wanted[i]) out[i] = slice_axis(c.cotangent[0], c.attrs.axis, start, limit);
    start = limit;
  }
  return out;
}

static Values concat_jvp(const JvpCall<AxisAttrs>& c) {
  Values pieces;
  bool any = false;
  for (const Value& t : c.tangent) any |= static_cast<bool>(t);
  if (!any) return {Value{}};
  for (std::size_t i = 0; i < c.in.size(); ++i) pieces.push_back(c.tangent[i] ? c.tangent[i] : zeros_like(c.in[i]));
  return {concat(pieces, c.attrs.axis)};
}

static Batched concat_batch(const BatchCall<AxisAttrs>& c) {
  return {{concat(lead_with_batch(c.in, c.axes, c.size), c.attrs.axis + 1)}, {0}};
}
static ShardRule concat_shard(const AxisAttrs& a, const Signature& s) {
  return shard_positions(s, concat_infer(a, s), {a.axis});
}

extern const OpDef<AxisAttrs> concat_op{
    .name = "concat",
    .doc = "Joins tensors along one dimension.",
    .operands = concat_operands,
    .constraints = concat_constraints,
    .infer = concat_infer,
    .meaning = Primitive<AxisAttrs>{concat_reference},
    .vjp = Vjp<AxisAttrs>{concat_vjp},
    .jvp = concat_jvp,
    .batch = concat_batch,
    .shard = concat_shard,
    .cost = cost_moving<concat_infer, 0, AxisAttrs>,
    .samples = []() -> std::vector<Sample<AxisAttrs>> {
      return {sample<AxisAttrs>({f64({2, 3}), f64({2, 1}), f64({2, 2})}, {1}),
              sample<AxisAttrs>({f64({2, 2})}, {0}),
              sample<AxisAttrs>({{f32({1, 2}), {1, 2}}, {f32({2, 2}), {3, 4, 5, 6}}}, {0})
                  .expects({{1, 2, 3, 4, 5, 6}})
                  .exact(),
              sample<AxisAttrs>({{tensor(DType::i4, {1}), {-1}}, {tensor(DType::i4, {2}), {2, 3}}}, {0})
                  .expects({{-1, 2, 3}})
                  .exact(),
              sample<AxisAttrs>({f64({0, 2}), f64({1, 2})}, {0}),
              sample<AxisAttrs>({f32({2}), f64({2})}).breaking("C1"),
              sample<AxisAttrs>({}).breaking("C1"),
              sample<AxisAttrs>({f32({2}), f32({2, 1})}).breaking("C1"),
              sample<AxisAttrs>({f32({2}), f32({2})}, {1}).breaking("C2"),
              sample<AxisAttrs>({f32({})}, {0}).breaking("C2"),
              sample<AxisAttrs>({f32({2, 2}), f32({2, 3})}, {0}).breaking("C3")};
    },
    .traits = Trait::indexing};

}  // namespace rlx::ops
