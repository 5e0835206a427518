#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand pad_operands[] = {{"x", storable}, {"value", storable}};

// Elements of dimension i with interior ones; those of an empty dimension are none.
static Dim pad_spread(const PadAttrs& a, const Shape& x, std::size_t i) {
  const std::int64_t between = entry(a.interior, i, 0);
  return between == 0 || x[i] == 0 ? x[i] : x[i] + (x[i] - 1) * between;
}
static Shape pad_shape(const PadAttrs& a, const Shape& x) {
  Shape shape;
  for (std::size_t i = 0; i < x.size(); ++i) shape.push_back(pad_spread(a, x, i) + a.low[i] + a.high[i]);
  return shape;
}

constexpr Constraint<PadAttrs> pad_constraints[] = {
    {"C1", "value is a scalar of x's dtype",
     [](const PadAttrs&, const Signature& s) { return Answer(s.rank(1) == 0 && s.dtype(1) == s.dtype(0)); }},
    {"C2", "low and high have one entry for each dimension, and interior has too or is empty",
     [](const PadAttrs& a, const Signature& s) {
       return has_length(a.low.size(), s.rank(0), "low") && has_length(a.high.size(), s.rank(0), "high") &&
              empty_or_length(a.interior.size(), s.rank(0), "interior");
     }},
    {"C3", "interior >= 0",
     [](const PadAttrs& a, const Signature&) {
       for (std::int64_t v : a.interior)
         if (v < 0) return Answer::no("interior " + std::to_string(v));
       return Answer(true);
     }},
    {"C4", "a dimension with interior padding is known to be empty or not",
     [](const PadAttrs& a, const Signature& s) {
       Answer all = true;
       for (std::size_t i = 0; i < a.low.size(); ++i)
         if (entry(a.interior, i, 0) > 0 && !(s.shape(0)[i] == 0))
           all = std::move(all) && s.less_equal(1, s.shape(0)[i]);
       return all;
     }},
    {"C5", "no dimension of the result is negative", [](const PadAttrs& a, const Signature& s) {
       Answer all = true;
       for (const Dim& d : pad_shape(a, s.shape(0))) all = std::move(all) && s.less_equal(0, d);
       return all;
     }}};

static Types pad_infer(const PadAttrs& a, const Signature& s) { return {tensor(s.dtype(0), pad_shape(a, s.shape(0)))}; }

static HostValues pad_reference(const PadAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor y = c.make();
  for (std::int64_t i = 0; i < y.numel(); ++i) copy_element(y, i, c.tensor(1), 0);
  for_each_position(x.shape(), [&](Position p, std::int64_t i) {
    for (std::size_t d = 0; d < p.size(); ++d) p[d] = a.low[d] + p[d] * (entry(a.interior, d, 0) + 1);
    if (inside(p, y.shape())) copy_element(y, flat(p, y.shape()), x, i);
  });
  return {y};
}

// x gets back what of it was kept (padding by the opposite amounts and stepping over interior elements), value the sum
// of the rest: of what was padding, so that nothing cancels.
static Values pad_vjp(const VjpCall<PadAttrs>& c) {
  Builder& b = c.b;
  const PadAttrs& a = c.attrs;
  const TensorType x = c.in[0].tensor();
  Values out(2);
  if (c.wanted[0]) {
    std::vector<std::int64_t> low, high;
    for (std::int64_t v : a.low) low.push_back(-v);
    for (std::int64_t v : a.high) high.push_back(-v);
    if (element_count(x.shape) == 0) return {zeros(b, x), c.wanted[1] ? sum_all(c.cotangent[0]) : Value{}};
    const Value t = pad(c.cotangent[0], scalar(b, x.dtype, 0), low, high);
    std::vector<std::int64_t> stride;
    for (std::int64_t v : a.interior) stride.push_back(v + 1);
    const Shape spread = t.shape();
    out[0] = stride.empty() ? t : slice(t, Shape(x.shape.size(), 0), spread, stride);
  }
  if (c.wanted[1]) {
    const Value kept =
        pad(full(b, DType::boolean, x.shape, 1), scalar(b, DType::boolean, 0), a.low, a.high, a.interior);
    out[1] = sum_all(select(kept, zeros_like(c.cotangent[0]), c.cotangent[0]));
  }
  return out;
}

static Values pad_jvp(const JvpCall<PadAttrs>& c) {
  if (!c.tangent[0] && !c.tangent[1]) return {Value{}};
  const Value x = c.tangent[0] ? c.tangent[0] : zeros_like(c.in[0]);
  const Value v = c.tangent[1] ? c.tangent[1] : zeros_like(c.in[1]);
  return {pad(x, v, c.attrs.low, c.attrs.high, c.attrs.interior)};
}

// A batched value is written by selecting where the padding is.
static Batched pad_batch(const BatchCall<PadAttrs>& c) {
  const PadAttrs& a = c.attrs;
  const Value x = lead(c.in[0], c.axes[0], c.size);
  const auto low = prepended<std::int64_t>(0, a.low), high = prepended<std::int64_t>(0, a.high),
             between = batch_entry(a.interior, 0);
  if (c.axes[1] < 0) return {{pad(x, c.in[1], low, high, between)}, {0}};
  const Value y = pad(x, scalar(c.b, x.dtype(), 0), low, high, between);
  const Value kept = pad(full(c.b, DType::boolean, x.shape(), 1), scalar(c.b, DType::boolean, 0), low, high, between);
  return {{select(kept, y, broadcast(c.in[1], y.shape(), {0}))}, {0}};
}

static ShardRule pad_shard(const PadAttrs& a, const Signature& s) {
  Axes padded;
  for (int i = 0; i < s.rank(0); ++i) {
    const auto d = static_cast<std::size_t>(i);
    if (a.low[d] != 0 || a.high[d] != 0 || entry(a.interior, d, 0) != 0) padded.push_back(i);
  }
  ShardRule r = shard_positions(s, pad_infer(a, s), padded);
  r.operands[1] = {};
  return r;
}

extern const OpDef<PadAttrs> pad_op{
    .name = "pad",
    .doc = "Puts value around x and between its elements; negative amounts cut.",
    .operands = pad_operands,
    .constraints = pad_constraints,
    .infer = pad_infer,
    .meaning = Primitive<PadAttrs>{pad_reference},
    .vjp = Vjp<PadAttrs>{pad_vjp},
    .jvp = pad_jvp,
    .batch = pad_batch,
    .shard = pad_shard,
    .cost = cost_moving<pad_infer, 0, PadAttrs>,
    .samples = []() -> std::vector<Sample<PadAttrs>> {
      return {
          sample<PadAttrs>({f64({3, 2}), f64({})}, {{1, 0}, {2, 1}, {1, 2}}),
          sample<PadAttrs>({f64({4}), f64({})}, {{-1}, {2}, {}}),
          sample<PadAttrs>({f64({3}), f64({})}, {{-2}, {1}, {2}}),
          sample<PadAttrs>({{f32({2}), {1, 2}}, {f32({}), {9}}}, {{1}, {2}, {1}}).expects({{9, 1, 9, 2, 9, 9}}).exact(),
          sample<PadAttrs>({{f32({4}), {1, 2, 3, 4}}, {f32({}), {9}}}, {{-1}, {-2}, {}}).expects({{2}}).exact(),
          sample<PadAttrs>({{f32({2}), {1, 2}}, {f32({}), {9}}}, {{-1}, {0}, {1}}).expects({{9, 2}}).exact(),
          sample<PadAttrs>({f64({0}), f64({})}, {{1}, {2}, {3}}),
          sample<PadAttrs>({f64({}), f64({})}),
          sample<PadAttrs>({f32({2}), f64({})}, {{0}, {0}, {}}).breaking("C1"),
          sample<PadAttrs>({f32({2}), f32({1})}, {{0}, {0}, {}}).breaking("C1"),
          sample<PadAttrs>({f32({2}), f32({})}, {{0}, {0, 0}, {}}).breaking("C2"),
          sample<PadAttrs>({f32({2}), f32({})}, {{0}, {0}, {-1}}).breaking("C3"),
          sample<PadAttrs>({f32({-1}), f32({})}, {{0}, {0}, {1}}).breaking("C4"),
          sample<PadAttrs>({f32({2}), f32({})}, {{-2}, {-1}, {}}).breaking("C5")};
    },
    .traits = Trait::indexing};

}  // namespace rlx::ops
