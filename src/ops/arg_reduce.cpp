#include "ops/structure.hpp"

#include <cmath>

namespace rlx::ops {

constexpr Operand arg_reduce_operands[] = {{"x", real_numbers}};
constexpr Constraint<ArgReduceAttrs> arg_reduce_constraints[] = {
    {"C1", "0 <= axis < rank(x)",
     [](const ArgReduceAttrs& a, const Signature& s) { return axis_within(a.axis, s.rank(0)); }},
    {"C2", "the dimension is not empty",
     [](const ArgReduceAttrs& a, const Signature& s) { return s.less_equal(1, s.tensor(0).dim(a.axis)); }},
    {"C3", "index is i32 or i64",
     [](const ArgReduceAttrs& a, const Signature&) { return Answer(index_types.contains(a.index)); }},
    {"C4", "index can count the dimension", [](const ArgReduceAttrs& a, const Signature& s) {
       const Dim& d = s.tensor(0).dim(a.axis);
       return a.index == DType::i64 || !d.is_constant() ? Answer(true) : s.less_equal(d, INT32_MAX);
     }}};

static Types arg_reduce_infer(const ArgReduceAttrs& a, const Signature& s) {
  return {tensor(a.index, shape_without(s.shape(0), {a.axis}))};
}

template <class T>
static bool arg_reduce_better(Extremum kind, T candidate, T best) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(best)) return false;
    if (std::isnan(candidate)) return true;
  }
  return kind == Extremum::min ? candidate < best : candidate > best;
}

static HostValues arg_reduce_reference(const ArgReduceAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor y = c.make();
  const auto axis = static_cast<std::size_t>(a.axis);
  for_each_position(y.shape(), [&](Position p, std::int64_t i) {
    p.insert(p.begin() + a.axis, 0);
    std::int64_t best = flat(p, x.shape()), at = 0;
    for (p[axis] = 1; p[axis] < x.shape()[axis]; ++p[axis]) {
      const std::int64_t j = flat(p, x.shape());
      const bool better = is_floating(x.dtype())         ? arg_reduce_better(a.kind, x.get_f64(j), x.get_f64(best))
                          : is_signed_integer(x.dtype()) ? arg_reduce_better(a.kind, x.get_i64(j), x.get_i64(best))
                                                         : arg_reduce_better(a.kind, x.get_u64(j), x.get_u64(best));
      if (better) best = j, at = p[axis];
    }
    y.set_i64(i, at);
  });
  return {y};
}

static Batched arg_reduce_batch(const BatchCall<ArgReduceAttrs>& c) {
  return {{arg_reduce(lead(c.in[0], c.axes[0], c.size), c.attrs.axis + 1, c.attrs.kind, c.attrs.index)}, {0}};
}
static ShardRule arg_reduce_shard(const ArgReduceAttrs& a, const Signature& s) {
  ShardRule r = shard_positions(s, {}, {a.axis});
  r.results = {axes_except(s.rank(0), {a.axis})};
  return r;
}

extern const OpDef<ArgReduceAttrs> arg_reduce_op{
    .name = "arg_reduce",
    .doc = "Index of the least or greatest element along one dimension: the first of several, NaN before all.",
    .operands = arg_reduce_operands,
    .constraints = arg_reduce_constraints,
    .infer = arg_reduce_infer,
    .meaning = Primitive<ArgReduceAttrs>{arg_reduce_reference},
    .vjp = Vjp<ArgReduceAttrs>{zero_vjp<ArgReduceAttrs>},
    .jvp = zero_jvp<ArgReduceAttrs>,
    .batch = arg_reduce_batch,
    .shard = arg_reduce_shard,
    .cost = cost_consuming<arg_reduce_infer, 1, ArgReduceAttrs>,
    .samples = []() -> std::vector<Sample<ArgReduceAttrs>> {
      const auto least = [](int axis) { return ArgReduceAttrs{axis, Extremum::min, DType::i32}; };
      return {sample<ArgReduceAttrs>({f64({3, 4})}, {1}),
              sample<ArgReduceAttrs>({f32({3, 4})}, {0, Extremum::min, DType::i64}),
              sample<ArgReduceAttrs>({{f32({2, 3}), {1, 5, 5, 7, 2, 7}}}, {1}).expects({{1, 0}}).exact(),
              sample<ArgReduceAttrs>({{f32({2, 3}), {1, 5, 5, 7, 2, 7}}}, least(0)).expects({{0, 1, 0}}).exact(),
              sample<ArgReduceAttrs>({{f32({4}), {1, NAN, 9, NAN}}}).expects({{1}}).exact().without_gradients(),
              sample<ArgReduceAttrs>({{f32({3}), {0., -0., 0.}}}, least(0)).expects({{0}}).exact(),
              sample<ArgReduceAttrs>({{tensor(DType::u64, {2}), {1e19, 3}}}).expects({{0}}).exact(),
              sample<ArgReduceAttrs>({f64({1})}),
              sample<ArgReduceAttrs>({f64({0, 2})}, {1}),
              sample<ArgReduceAttrs>({f32({2})}, {1}).breaking("C1"),
              sample<ArgReduceAttrs>({f32({0})}).breaking("C2"),
              sample<ArgReduceAttrs>({f32({2})}, {0, Extremum::max, DType::u8}).breaking("C3"),
              sample<ArgReduceAttrs>({f32({std::int64_t{1} << 31})}).breaking("C4"),
              sample<ArgReduceAttrs>({c64({2})}).breaking("dtype")};
    }};

}  // namespace rlx::ops
