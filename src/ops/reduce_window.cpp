// Sums and products of f16 and bf16 are formed in f32 and rounded once. No attribute names another type, as one does
// for reduce: with a named combination the same is said by converting x and the result. Of several elements that attain
// a window's minimum or maximum each gets an equal share of the cotangent.
#include "ops/combine.hpp"
#include "ops/structure.hpp"

namespace rlx::ops {

static std::int64_t window_extent(const ReduceWindowAttrs& a, std::size_t d) {
  return (a.window[d] - 1) * entry(a.dilation, d, 1) + 1;
}
static Dim window_padded(const ReduceWindowAttrs& a, const Shape& x, std::size_t d) {
  return x[d] + entry(a.low, d, 0) + entry(a.high, d, 0);
}

constexpr Operand reduce_window_operands[] = {{"x", numbers | DTypeSet{DType::boolean}}};
constexpr Constraint<ReduceWindowAttrs> reduce_window_constraints[] = {
    {"C1", "window has one entry for each dimension, and stride, dilation, low, high have too or are empty",
     [](const ReduceWindowAttrs& a, const Signature& s) {
       const int n = s.rank(0);
       return has_length(a.window.size(), n, "window") && empty_or_length(a.stride.size(), n, "stride") &&
              empty_or_length(a.dilation.size(), n, "dilation") && empty_or_length(a.low.size(), n, "low") &&
              empty_or_length(a.high.size(), n, "high");
     }},
    {"C2", "window, stride and dilation are positive",
     [](const ReduceWindowAttrs& a, const Signature&) {
       for (const auto* list : {&a.window, &a.stride, &a.dilation})
         for (std::int64_t v : *list)
           if (v < 1) return Answer::no(std::to_string(v));
       return Answer(true);
     }},
    // Of an empty dimension, as that of a batch may be, windows of one element have no place and give none.
    {"C3", "the window fits into the padded dimension, which may be empty for a window of 1",
     [](const ReduceWindowAttrs& a, const Signature& s) {
       Answer all = true;
       for (std::size_t d = 0; d < a.window.size(); ++d)
         all = std::move(all) &&
               s.less_equal(a.window[d] == 1 ? 0 : window_extent(a, d), window_padded(a, s.shape(0), d));
       return all;
     }},
    {"C4", "kind is add, min, max or mul and can combine x's dtype",
     [](const ReduceWindowAttrs& a, const Signature& s) {
       return a.kind == Combine::set ? Answer::no("set") : can_combine(a.kind, s.dtype(0));
     }}};

static Types reduce_window_infer(const ReduceWindowAttrs& a, const Signature& s) {
  Shape shape;
  for (std::size_t d = 0; d < a.window.size(); ++d)
    shape.push_back(floordiv(window_padded(a, s.shape(0), d) - window_extent(a, d), entry(a.stride, d, 1)) + 1);
  return {tensor(s.dtype(0), shape)};
}

static HostValues reduce_window_reference(const ReduceWindowAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor y = c.make();
  const HostTensor neutral = identity_of(a.kind, partial_type(a.kind, x.dtype()));
  for_each_position(y.shape(), [&](const Position& p, std::int64_t i) {
    HostTensor sum = neutral;
    for_each_position(a.window, [&](const Position& w, std::int64_t) {
      Position from(p.size());
      for (std::size_t d = 0; d < p.size(); ++d)
        from[d] = p[d] * entry(a.stride, d, 1) + w[d] * entry(a.dilation, d, 1) - entry(a.low, d, 0);
      if (inside(from, x.shape())) combine_element(a.kind, sum, 0, x, flat(from, x.shape()));
    });
    convert_element(y, i, sum, 0);
  });
  return {y};
}

// Transposed sum: cotangents at their strided places, then windows of the same size at step 1. A window's offset k
// there stands for offset window - 1 - k here.
static Value reduce_window_spread(Value t, const ReduceWindowAttrs& a, Shape x) {
  const std::size_t rank = x.size();
  std::vector<std::int64_t> none(rank, 0), between, low, high;
  for (std::size_t d = 0; d < rank; ++d) {
    between.push_back(entry(a.stride, d, 1) - 1);
    low.push_back(window_extent(a, d) - 1 - entry(a.low, d, 0));
    const Dim have = (t.shape()[d] - 1) * entry(a.stride, d, 1) + 1 + low[d];
    high.push_back((x[d] + (window_extent(a, d) - 1) - have).constant());
  }
  const Value padded = pad(t, scalar(*t.builder, t.dtype(), 0), low, high, between);
  return reduce_window(padded, {Combine::add, a.window, {}, a.dilation, {}, {}});
}

/// Calls f(elements of x at offset w of every window, w).
template <class F>
static void reduce_window_offsets(Value x, const ReduceWindowAttrs& a, Shape y, double outside, F f) {
  const Value padded = pad(x, scalar(*x.builder, x.dtype(), outside),
                           a.low.empty() ? std::vector<std::int64_t>(a.window.size(), 0) : a.low,
                           a.high.empty() ? std::vector<std::int64_t>(a.window.size(), 0) : a.high);
  for_each_position(a.window, [&](const Position& w, std::int64_t) {
    std::vector<Dim> start, limit;
    for (std::size_t d = 0; d < w.size(); ++d) {
      start.push_back(w[d] * entry(a.dilation, d, 1));
      limit.push_back(start[d] + (y[d] - 1) * entry(a.stride, d, 1) + 1);
    }
    f(slice(padded, start, limit, a.stride), w);
  });
}

// d result / d element at every offset of the windows, for all combinations but add. Elements that attain an extremum
// share it equally.
static Values reduce_window_slopes(Value x, Value y, const ReduceWindowAttrs& a) {
  const Shape shape = y.shape();
  const double outside = a.kind == Combine::mul ? 1 : a.kind == Combine::max ? -INFINITY : INFINITY;
  Values parts;
  reduce_window_offsets(x, a, shape, outside, [&](Value part, const Position&) { parts.push_back(part); });
  if (a.kind == Combine::mul) {
    Values rows;
    for (const Value& part : parts) rows.push_back(insert_axis(part, 0, 1));
    const Value others = product_of_others(concat(rows, 0), {0});
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      parts[i] = reshape(slice_axis(others, 0, at, at + 1), shape);
    }
    return parts;
  }
  Value count;
  for (Value& part : parts) {
    part = convert(compare(part, y, Direction::eq), x.dtype());
    count = count ? add(count, part) : part;
  }
  for (Value& part : parts) part = div(part, count);
  return parts;
}

static Values reduce_window_vjp(const VjpCall<ReduceWindowAttrs>& c) {
  const ReduceWindowAttrs& a = c.attrs;
  const TensorType x = c.in[0].tensor();
  const Value t = c.cotangent[0];
  if (element_count(t.shape()) == 0 || element_count(x.shape) == 0) return {zeros(c.b, x)};
  if (a.kind == Combine::add) return {reduce_window_spread(t, a, x.shape)};
  const Values slopes = reduce_window_slopes(c.in[0], c.out[0], a);
  Value sum;
  std::size_t next = 0;
  for_each_position(a.window, [&](const Position& w, std::int64_t) {
    ReduceWindowAttrs one = a;  // a window of one element at this offset
    one.window.assign(w.size(), 1);
    one.low.resize(w.size());
    for (std::size_t d = 0; d < w.size(); ++d) one.low[d] = entry(a.low, d, 0) - w[d] * entry(a.dilation, d, 1);
    const Value part = reduce_window_spread(mul(t, conj(slopes[next++])), one, x.shape);
    sum = sum ? add(sum, part) : part;
  });
  return {sum};
}

static Values reduce_window_jvp(const JvpCall<ReduceWindowAttrs>& c) {
  const ReduceWindowAttrs& a = c.attrs;
  if (!c.tangent[0]) return {Value{}};
  if (a.kind == Combine::add) return {reduce_window(c.tangent[0], a)};
  if (element_count(c.out[0].shape()) == 0) return {zeros(c.b, c.out[0].tensor())};
  const Values slopes = reduce_window_slopes(c.in[0], c.out[0], a);
  Value sum;
  std::size_t next = 0;
  reduce_window_offsets(c.tangent[0], a, c.out[0].shape(), 0, [&](Value part, const Position&) {
    const Value scaled_part = mul(part, slopes[next++]);
    sum = sum ? add(sum, scaled_part) : scaled_part;
  });
  return {sum};
}

static Batched reduce_window_batch(const BatchCall<ReduceWindowAttrs>& c) {
  const ReduceWindowAttrs& a = c.attrs;
  return {{reduce_window(lead(c.in[0], c.axes[0], c.size),
                         {a.kind, prepended<std::int64_t>(1, a.window), batch_entry(a.stride, 1),
                          batch_entry(a.dilation, 1), batch_entry(a.low, 0), batch_entry(a.high, 0)})},
          {0}};
}

// Dimensions whose windows do not overlap may be cut freely, others at step 1 with a halo.
static ShardRule reduce_window_shard(const ReduceWindowAttrs& a, const Signature& s) {
  ShardRule r = shard_positions(s, reduce_window_infer(a, s), {});
  for (std::size_t d = 0; d < a.window.size(); ++d) {
    if (a.window[d] == 1 && entry(a.stride, d, 1) == 1 && entry(a.low, d, 0) == 0 && entry(a.high, d, 0) == 0) continue;
    const bool centred = entry(a.stride, d, 1) == 1 && entry(a.low, d, 0) == entry(a.high, d, 0) &&
                         window_extent(a, d) == 2 * entry(a.low, d, 0) + 1;
    r.factors[d] = centred ? ShardRule::Factor{ShardRule::Kind::halo, static_cast<int>(entry(a.low, d, 0))}
                           : ShardRule::Factor{ShardRule::Kind::whole, 0};
  }
  return r;
}
static Cost reduce_window_cost(const ReduceWindowAttrs& a, const Signature& s) {
  const Types r = reduce_window_infer(a, s);
  return cost_of(s, r, std::get<TensorType>(r[0]).numel() * element_count(a.window));
}

extern const OpDef<ReduceWindowAttrs> reduce_window_op{
    .name = "reduce_window",
    .doc =
        "Sum, product, minimum or maximum over windows; padding counts as the neutral element. Those of f16 and bf16 "
        "are "
        "formed in f32 and rounded once.",
    .operands = reduce_window_operands,
    .constraints = reduce_window_constraints,
    .infer = reduce_window_infer,
    .meaning = Primitive<ReduceWindowAttrs>{reduce_window_reference},
    .vjp = Vjp<ReduceWindowAttrs>{reduce_window_vjp},
    .jvp = reduce_window_jvp,
    .batch = reduce_window_batch,
    .shard = reduce_window_shard,
    .cost = reduce_window_cost,
    .samples = []() -> std::vector<Sample<ReduceWindowAttrs>> {
      using W = ReduceWindowAttrs;
      const SampleOperand apart{f64({5, 6}), Fill::distinct}, line{f32({4}), {1, 2, 4, 8}};
      return {
          sample<W>({f64({5, 6})}, W{Combine::add, {2, 3}, {2, 1}, {1, 2}, {1, 0}, {0, 1}}),
          sample<W>({apart}, W{Combine::max, {2, 2}, {2, 2}, {}, {}, {}}),
          sample<W>({apart}, W{Combine::min, {3, 2}, {1, 2}, {1, 3}, {1, 0}, {1, 1}}),
          sample<W>({f64({4})}, W{Combine::mul, {2}, {}, {}, {}, {}}),
          sample<W>({f64({5, 4})}, W{Combine::mul, {2, 3}, {2, 1}, {1, 1}, {1, 0}, {0, 2}}),
          sample<W>({{f64({4}), {0, 2, 0, 3}}}, W{Combine::mul, {3}, {}, {}, {}, {}}).expects({{0, 0}}),
          sample<W>({line}, W{Combine::add, {2}, {}, {}, {1}, {}}).expects({{1, 3, 6, 12}}).exact(),
          sample<W>({line}, W{Combine::mul, {2}, {2}, {}, {}, {}}).expects({{2, 32}}).exact(),
          sample<W>({line}, W{Combine::max, {2}, {}, {2}, {}, {}}).expects({{4, 8}}).exact(),
          sample<W>({line}, W{Combine::min, {3}, {2}, {}, {2}, {}}).expects({{1, 1}}).exact(),
          sample<W>({{boolean({4}), {1, 1, 0, 0}}}, W{Combine::min, {2}, {}, {}, {}, {}}).expects({{1, 0, 0}}).exact(),
          sample<W>({{boolean({4}), {0, 0, 1, 0}}}, W{Combine::max, {2}, {}, {}, {}, {}}).expects({{0, 1, 1}}).exact(),
          sample<W>({f64({1})}, W{Combine::add, {1}, {}, {}, {}, {}}),
          sample<W>({f64({0})}, W{Combine::add, {2}, {}, {}, {1}, {1}}),
          sample<W>({f64({0, 3})}, W{Combine::max, {1, 2}, {}, {}, {1, 0}, {}}).without_gradients(),
          sample<W>({f64({0, 3})}, W{Combine::min, {1, 2}, {2, 1}, {}, {}, {}}).without_gradients(),
          sample<W>({f32({3})}, W{Combine::add, {1, 1}, {}, {}, {}, {}}).breaking("C1"),
          sample<W>({f32({3})}, W{Combine::add, {1}, {0}, {}, {}, {}}).breaking("C2"),
          sample<W>({f32({3})}, W{Combine::add, {3}, {}, {2}, {}, {}}).breaking("C3"),
          sample<W>({f32({3})}, W{Combine::set, {1}, {}, {}, {}, {}}).breaking("C4"),
          sample<W>({c64({3})}, W{Combine::max, {1}, {}, {}, {}, {}}).breaking("C4")};
    }};

}  // namespace rlx::ops
