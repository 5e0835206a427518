// NaN counts as greater than all numbers, so that it is found first, as arg_reduce finds it; -0 and 0 are equal.
#include "ops/indexing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rlx::ops {

constexpr Operand top_k_operands[] = {{"x", real_numbers}};
constexpr Constraint<TopKAttrs> top_k_constraints[] = {
    {"C1", "x has at least one dimension", [](const TopKAttrs&, const Signature& s) { return Answer(s.rank(0) >= 1); }},
    {"C2", "0 <= k <= the last dimension",
     [](const TopKAttrs& a, const Signature& s) {
       return s.less_equal(0, a.k) && s.less_equal(a.k, s.shape(0).back());
     }},
    {"C3", "i32 can count the last dimension", [](const TopKAttrs&, const Signature& s) {
       return s.shape(0).back().is_constant() ? s.less_equal(s.shape(0).back(), INT32_MAX) : Answer(true);
     }}};

static Types top_k_infer(const TopKAttrs& a, const Signature& s) {
  Shape shape = s.shape(0);
  shape.back() = a.k;
  return {tensor(s.dtype(0), shape), i32(shape)};
}

static HostValues top_k_reference(const TopKAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor values = c.make(0), indices = c.make(1);
  const std::int64_t n = x.shape().back(), rows = n == 0 ? 0 : x.numel() / n;
  const auto greater = [&](std::int64_t i, std::int64_t j) {
    if (is_signed_integer(x.dtype())) return x.get_i64(i) > x.get_i64(j);
    if (is_unsigned_integer(x.dtype())) return x.get_u64(i) > x.get_u64(j);
    const double v = x.get_f64(i), w = x.get_f64(j);
    return std::isnan(v) ? !std::isnan(w) : v > w;
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), row * n);
    std::stable_sort(order.begin(), order.end(), greater);
    for (std::int64_t i = 0; i < a.k; ++i) {
      const std::int64_t from = order[static_cast<std::size_t>(i)];
      copy_element(values, row * a.k + i, x, from);
      indices.set_i64(row * a.k + i, from - row * n);
    }
  }
  return {values, indices};
}

static Values top_k_vjp(const VjpCall<TopKAttrs>& c) {
  if (!c.cotangent[0]) return {Value{}};
  return {put_along(c.in[0].tensor(), c.cotangent[0], c.out[1], c.in[0].rank() - 1)};
}
static Values top_k_jvp(const JvpCall<TopKAttrs>& c) {
  return {c.tangent[0] ? take_along(c.tangent[0], c.out[1], c.in[0].rank() - 1) : Value{}, Value{}};
}
static Batched top_k_batch(const BatchCall<TopKAttrs>& c) {
  return {top_k(lead(c.in[0], c.axes[0], c.size), c.attrs.k), {0, 0}};
}
static ShardRule top_k_shard(const TopKAttrs& a, const Signature& s) {
  return shard_positions(s, top_k_infer(a, s), {s.rank(0) - 1});
}

extern const OpDef<TopKAttrs> top_k_op{
    .name = "top_k",
    .doc =
        "The k greatest elements of the last dimension, greatest first, and their indices; ties go to the first index.",
    .operands = top_k_operands,
    .constraints = top_k_constraints,
    .infer = top_k_infer,
    .meaning = Primitive<TopKAttrs>{top_k_reference},
    .vjp = Vjp<TopKAttrs>{top_k_vjp},
    .jvp = top_k_jvp,
    .batch = top_k_batch,
    .shard = top_k_shard,
    .cost = cost_consuming<top_k_infer, 2, TopKAttrs>,
    .samples = []() -> std::vector<Sample<TopKAttrs>> {
      return {sample<TopKAttrs>({{f64({3, 6}), Fill::distinct}}, {2}),
              sample<TopKAttrs>({{f64({4}), Fill::distinct}}, {4}),
              sample<TopKAttrs>({{f32({2, 3}), {1, 5, 5, 7, 2, 6}}}, {2}).expects({{5, 5, 7, 6}, {1, 2, 0, 2}}).exact(),
              sample<TopKAttrs>({{f32({3}), {1, NAN, INFINITY}}}, {2})
                  .expects({{NAN, INFINITY}, {1, 2}})
                  .without_gradients(),
              sample<TopKAttrs>({{tensor(DType::i8, {3}), {-3, -1, -2}}}, {1}).expects({{-1}, {1}}).exact(),
              sample<TopKAttrs>({f64({2, 3})}, {0}),
              sample<TopKAttrs>({f64({0, 3})}, {1}),
              sample<TopKAttrs>({f64({1})}, {1}),
              sample<TopKAttrs>({f32({})}).breaking("C1"),
              sample<TopKAttrs>({f32({2})}, {3}).breaking("C2"),
              sample<TopKAttrs>({f32({2})}, {-1}).breaking("C2"),
              sample<TopKAttrs>({f32({std::int64_t{1} << 31})}).breaking("C3")};
    }};

}  // namespace rlx::ops
