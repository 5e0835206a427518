// Stable. NaN comes after all numbers in either direction, -0 and 0 are equal. Elements of bool sort false first.
#include "ops/indexing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rlx::ops {

constexpr Operand sort_operands[] = {{"xs", storable, OperandKind::tensor, true}};
constexpr Constraint<SortAttrs> sort_constraints[] = {
    {"C1", "1 <= keys <= number of operands",
     [](const SortAttrs& a, const Signature& s) {
       return Answer(1 <= a.keys && static_cast<std::size_t>(a.keys) <= s.size());
     }},
    {"C2", "all operands have one shape", same_shapes<SortAttrs>},
    {"C3", "0 <= axis < rank", [](const SortAttrs& a, const Signature& s) { return axis_within(a.axis, s.rank(0)); }},
    {"C4", "keys are real or bool",
     [](const SortAttrs& a, const Signature& s) {
       for (std::size_t k = 0; k < static_cast<std::size_t>(a.keys); ++k)
         if (is_complex(s.dtype(k))) return Answer::no("complex numbers have no order");
       return Answer(true);
     }},
    {"C5", "descending has an entry for each key or is empty",
     [](const SortAttrs& a, const Signature&) { return empty_or_length(a.descending.size(), a.keys, "descending"); }}};

static Types sort_infer(const SortAttrs&, const Signature& s) {
  Types types;
  for (std::size_t i = 0; i < s.size(); ++i) types.push_back(tensor(s.dtype(i), s.shape(i)));
  return types;
}

// -1, 0, 1: order of elements i and j of one key.
static int sort_compare(const HostTensor& x, std::int64_t i, std::int64_t j, bool descending) {
  const auto order = [&](auto a, auto b) { return descending ? (b < a ? -1 : a < b) : (a < b ? -1 : b < a); };
  if (is_floating(x.dtype())) {
    const double a = x.get_f64(i), b = x.get_f64(j);
    if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
    return order(a, b);
  }
  return is_signed_integer(x.dtype()) ? order(x.get_i64(i), x.get_i64(j)) : order(x.get_u64(i), x.get_u64(j));
}

static HostValues sort_reference(const SortAttrs& a, const ReferenceCall& c) {
  const auto axis = static_cast<std::size_t>(a.axis);
  const Position shape = c.tensor(0).shape();
  std::vector<HostTensor> y;
  for (std::size_t k = 0; k < c.in.size(); ++k) y.push_back(c.make(k));
  Position lines = shape;
  lines[axis] = std::min<std::int64_t>(1, shape[axis]);
  for_each_position(lines, [&](Position p, std::int64_t) {
    const auto at = [&](std::int64_t i) {
      p[axis] = i;
      return flat(p, shape);
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(shape[axis]));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(a.keys); ++k)
        if (const int o = sort_compare(c.tensor(k), at(i), at(j), !a.descending.empty() && a.descending[k]))
          return o < 0;
      return false;
    });
    for (std::size_t k = 0; k < y.size(); ++k)
      for (std::int64_t i = 0; i < shape[axis]; ++i) {
        const std::int64_t from = at(order[static_cast<std::size_t>(i)]);
        copy_element(y[k], at(i), c.tensor(k), from);
      }
  });
  return HostValues(y.begin(), y.end());
}

/// Where each sorted element came from: positions, sorted along.
static Value sort_permutation(Builder& b, const SortAttrs& a, ValuesIn in) {
  const Shape shape = in[0].shape();
  const Dim n = shape[static_cast<std::size_t>(a.axis)];
  const bool wide = !n.is_constant() || n.constant() > INT32_MAX;
  Values xs(in.begin(), in.begin() + a.keys);
  xs.push_back(iota(b, wide ? DType::i64 : DType::i32, shape, a.axis));
  return sort(xs, a).back();
}
static Values sort_save(Builder& b, const SortAttrs& a, ValuesIn in, ValuesIn) { return {sort_permutation(b, a, in)}; }

static Values sort_vjp(const VjpCall<SortAttrs>& c) {
  Values out(c.in.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    if (c.wanted[k] && c.cotangent[k])
      out[k] = put_along(c.in[k].tensor(), c.cotangent[k], c.residuals[0], c.attrs.axis);
  return out;
}
static Values sort_jvp(const JvpCall<SortAttrs>& c) {
  Values out(c.in.size());
  Value permutation;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!c.tangent[k]) continue;
    if (!permutation) permutation = sort_permutation(c.b, c.attrs, c.in);
    out[k] = take_along(c.tangent[k], permutation, c.attrs.axis);
  }
  return out;
}
static Batched sort_batch(const BatchCall<SortAttrs>& c) {
  SortAttrs a = c.attrs;
  ++a.axis;
  const Values out = sort(lead_with_batch(c.in, c.axes, c.size), a);
  return {out, std::vector<int>(out.size(), 0)};
}
static ShardRule sort_shard(const SortAttrs& a, const Signature& s) {
  return shard_positions(s, sort_infer(a, s), {a.axis});
}

// Comparisons of a merge sort; a symbolic length counts as 2^20.
static Cost sort_cost(const SortAttrs& a, const Signature& s) {
  const Dim& n = s.tensor(0).dim(a.axis);
  int depth = 1;
  while (depth < 40 && (std::int64_t{1} << depth) < (n.is_constant() ? n.constant() : 1 << 20)) ++depth;
  return cost_of(s, sort_infer(a, s), s.tensor(0).numel() * depth);
}

extern const OpDef<SortAttrs> sort_op{
    .name = "sort",
    .doc = "Sorts along one dimension by the first operands and permutes all alike; stable, NaN last.",
    .operands = sort_operands,
    .constraints = sort_constraints,
    .infer = sort_infer,
    .meaning = Primitive<SortAttrs>{sort_reference},
    .vjp = Vjp<SortAttrs>{sort_vjp, sort_save},
    .jvp = sort_jvp,
    .batch = sort_batch,
    .shard = sort_shard,
    .cost = sort_cost,
    .samples = []() -> std::vector<Sample<SortAttrs>> {
      const SampleOperand apart{f64({3, 5}), Fill::distinct}, line{f32({4}), {3, 1, 3, 2}}, ids{i32({4}), {0, 1, 2, 3}};
      return {sample<SortAttrs>({apart}, {1, 1, {}}),
              sample<SortAttrs>({apart, f64({3, 5})}, {0, 1, {true}}),
              sample<SortAttrs>({line, ids}).expects({{1, 2, 3, 3}, {1, 3, 0, 2}}).exact(),
              sample<SortAttrs>({line, ids}, {0, 1, {true}}).expects({{3, 3, 2, 1}, {0, 2, 3, 1}}).exact(),
              sample<SortAttrs>({line, ids}, {0, 2, {false, true}}).expects({{1, 2, 3, 3}, {1, 3, 2, 0}}).exact(),
              sample<SortAttrs>({{f32({4}), {NAN, 2, -INFINITY, 1}}, ids})
                  .expects({{-INFINITY, 1, 2, NAN}, {2, 3, 1, 0}})
                  .without_gradients(),
              sample<SortAttrs>({{f32({3}), {NAN, 1, 2}}}, {0, 1, {true}}).expects({{2, 1, NAN}}).without_gradients(),
              sample<SortAttrs>({{f32({3}), {0., -0., 0.}}, {i32({3}), {0, 1, 2}}})
                  .expects({{0, -0., 0}, {0, 1, 2}})
                  .exact(),
              sample<SortAttrs>({{tensor(DType::u8, {3}), {200, 3, 100}}}).expects({{3, 100, 200}}).exact(),
              sample<SortAttrs>({f64({0, 2})}),
              sample<SortAttrs>({f64({1})}),
              sample<SortAttrs>({f32({2})}, {0, 2, {}}).breaking("C1"),
              sample<SortAttrs>({f32({2}), f32({3})}).breaking("C2"),
              sample<SortAttrs>({f32({2})}, {1, 1, {}}).breaking("C3"),
              sample<SortAttrs>({c64({2})}).breaking("C4"),
              sample<SortAttrs>({f32({2})}, {0, 1, {true, false}}).breaking("C5")};
    }};

}  // namespace rlx::ops
