#include "ops/contraction.hpp"

namespace rlx::ops {

constexpr Operand conv_operands[] = {{"input", contractible}, {"kernel", contractible}};

static std::int64_t conv_size(const Dim& d) { return d.constant(); }
static int conv_spatial(const Signature& s) { return s.rank(0) - 2; }
/// Elements of a dimension whose neighbours are `distance` apart.
static Dim conv_dilated(const Dim& n, std::int64_t distance) { return distance == 1 ? n : (n - 1) * distance + 1; }
static Dim conv_padded(const ConvAttrs& a, const Shape& input, std::size_t d) {
  return conv_dilated(input[d + 1], entry(a.input_dilation, d, 1)) + entry(a.low, d, 0) + entry(a.high, d, 0);
}
static Dim conv_window(const ConvAttrs& a, const Shape& kernel, std::size_t d) {
  return conv_dilated(kernel[d], entry(a.kernel_dilation, d, 1));
}

constexpr Constraint<ConvAttrs> conv_constraints[] = {
    {"C1", "input and kernel have one dtype and one rank of at least 2",
     [](const ConvAttrs&, const Signature& s) {
       return Answer(s.dtype(0) == s.dtype(1) && s.rank(0) == s.rank(1) && s.rank(0) >= 2);
     }},
    {"C2", "lists have an entry for each spatial dimension or are empty",
     [](const ConvAttrs& a, const Signature& s) {
       const int n = conv_spatial(s);
       return empty_or_length(a.stride.size(), n, "stride") && empty_or_length(a.low.size(), n, "low") &&
              empty_or_length(a.high.size(), n, "high") &&
              empty_or_length(a.input_dilation.size(), n, "input_dilation") &&
              empty_or_length(a.kernel_dilation.size(), n, "kernel_dilation");
     }},
    {"C3", "groups, strides and dilations are positive",
     [](const ConvAttrs& a, const Signature&) {
       for (const auto* list : {&a.stride, &a.input_dilation, &a.kernel_dilation})
         for (std::int64_t v : *list)
           if (v < 1) return Answer::no(std::to_string(v));
       return a.groups >= 1 ? Answer(true) : Answer::no("groups = " + std::to_string(a.groups));
     }},
    {"C4", "channels of input = groups * channels of kernel",
     [](const ConvAttrs& a, const Signature& s) {
       return s.equal(s.shape(0).back(), s.shape(1)[s.shape(1).size() - 2] * a.groups);
     }},
    {"C5", "groups divides the features of kernel",
     [](const ConvAttrs& a, const Signature& s) {
       return a.groups == 1 ? Answer(true) : s.equal(mod(s.shape(1).back(), a.groups), 0);
     }},
    {"C6", "spatial dimensions of input and kernel are not empty",
     [](const ConvAttrs&, const Signature& s) {
       Answer all = true;
       for (int d = 0; d < conv_spatial(s); ++d)
         all = std::move(all) && s.less_equal(1, s.tensor(0).dim(d + 1)) && s.less_equal(1, s.tensor(1).dim(d));
       return all;
     }},
    {"C7", "the dilated kernel fits into the dilated and padded input",
     [](const ConvAttrs& a, const Signature& s) {
       Answer all = true;
       for (std::size_t d = 0; d < static_cast<std::size_t>(conv_spatial(s)); ++d)
         all = std::move(all) && s.less_equal(conv_window(a, s.shape(1), d), conv_padded(a, s.shape(0), d));
       return all;
     }},
    {"C8", "accumulate is bool (the default) or at least as wide as the operands",
     [](const ConvAttrs& a, const Signature& s) { return widens(a.accumulate, s.dtype(0)); }},
    {"C9", "algorithms other than exact take f32 operands", [](const ConvAttrs& a, const Signature& s) {
       return Answer(a.algorithm == Algorithm::exact || s.dtype(0) == DType::f32);
     }}};

static Types conv_infer(const ConvAttrs& a, const Signature& s) {
  Shape shape{s.shape(0)[0]};
  for (std::size_t d = 0; d < static_cast<std::size_t>(conv_spatial(s)); ++d)
    shape.push_back(floordiv(conv_padded(a, s.shape(0), d) - conv_window(a, s.shape(1), d), entry(a.stride, d, 1)) + 1);
  shape.push_back(s.shape(1).back());
  return {tensor(s.dtype(0), shape)};
}

static HostValues conv_reference(const ConvAttrs& a, const ReferenceCall& c) {
  const HostTensor &x = c.tensor(0), &k = c.tensor(1);
  HostTensor y = c.make();
  const std::size_t spatial = x.shape().size() - 2;
  const std::int64_t channels = k.shape()[spatial], features = k.shape().back() / a.groups;
  Position window(k.shape().begin(), k.shape().end() - 1);
  HostSum sum(x.dtype(), accumulator(a.accumulate, x.dtype()));
  for_each_position(y.shape(), [&](const Position& p, std::int64_t i) {
    const std::int64_t group = p.back() / std::max<std::int64_t>(features, 1);
    for_each_position(window, [&](const Position& w, std::int64_t j) {
      Position from(p.size());
      from[0] = p[0];
      from.back() = group * channels + w.back();
      for (std::size_t d = 0; d < spatial; ++d) {
        const std::int64_t at =
            p[d + 1] * entry(a.stride, d, 1) + w[d] * entry(a.kernel_dilation, d, 1) - entry(a.low, d, 0);
        const std::int64_t step = entry(a.input_dilation, d, 1);
        if (at < 0 || at % step != 0 || at / step >= x.shape()[d + 1]) return;
        from[d + 1] = at / step;
      }
      sum.add(x, flat(from, x.shape()), k, j * k.shape().back() + p.back());
    });
    sum.store(y, i);
  });
  return {y};
}

/// Dimension `axis` of size groups * n as (groups, n), with the two moved to `outer` and `inner` of the new shape.
static Value conv_split(Value x, int axis, std::int64_t groups) {
  Shape s = x.shape();
  const auto d = static_cast<std::size_t>(axis);
  const Dim n = groups == 1 ? s[d] : floordiv(s[d], groups);
  s[d] = n;
  s.insert(s.begin() + axis, groups);
  return reshape(x, s);
}
static Value conv_merge(Value x, int axis) {  // dimensions axis and axis + 1
  Shape s = x.shape();
  const auto d = static_cast<std::size_t>(axis);
  s[d] = s[d] * s[d + 1];
  s.erase(s.begin() + axis + 1);
  return reshape(x, s);
}

// A convolution of the cotangent, spread by the stride, with the reversed kernel whose channels and features are
// exchanged.
static Value conv_pull_input(const ConvAttrs& a, Value k, Value t, Shape x) {
  const int spatial = static_cast<int>(x.size()) - 2;
  const Shape ks = k.shape(), ts = t.shape();
  ConvAttrs r{.input_dilation = a.stride,
              .kernel_dilation = a.kernel_dilation,
              .groups = a.groups,
              .accumulate = a.accumulate,
              .algorithm = a.algorithm};
  r.stride = a.input_dilation;
  for (std::size_t d = 0; d < static_cast<std::size_t>(spatial); ++d) {
    const std::int64_t window = conv_size(conv_window(a, ks, d)), low = window - 1 - entry(a.low, d, 0);
    r.low.push_back(low);
    const Dim whole = conv_dilated(x[d + 1], entry(a.input_dilation, d, 1)),
              spread = conv_dilated(ts[d + 1], entry(a.stride, d, 1));
    r.high.push_back(conv_size(whole + (window - 1) - low - spread));
  }
  Value swapped = conv_split(reverse(k, axes_upto(spatial)), spatial + 1, a.groups);  // [spatial, C / g, g, F / g]
  Axes order = axes_upto(spatial);
  for (int d : {2, 1, 0}) order.push_back(spatial + d);
  swapped = conv_merge(transpose(swapped, order), spatial + 1);  // [spatial, F / g, g * C / g]
  return conv(t, swapped, r);
}

// A convolution of the input with the cotangent as kernel: batch and channels are exchanged, stride and dilation too.
static Value conv_pull_kernel(const ConvAttrs& a, Value x, Value t, Shape k) {
  const int spatial = static_cast<int>(k.size()) - 2, last = spatial + 1;
  const Shape xs = x.shape(), ts = t.shape();
  ConvAttrs r{.low = a.low,
              .input_dilation = a.input_dilation,
              .kernel_dilation = a.stride,
              .groups = a.groups,
              .accumulate = a.accumulate,
              .algorithm = a.algorithm};
  r.stride = a.kernel_dilation;
  for (std::size_t d = 0; d < static_cast<std::size_t>(spatial); ++d) {
    const Dim whole = conv_dilated(xs[d + 1], entry(a.input_dilation, d, 1)),
              window = conv_dilated(ts[d + 1], entry(a.stride, d, 1));
    r.high.push_back(conv_size(conv_window(a, k, d) + window - 1 - whole - entry(a.low, d, 0)));
  }
  Axes inner = shifted(axes_upto(spatial));
  Axes input = prepended(last + 1, inner);  // [C / g, spatial, g, N] of [N, spatial, g, C / g]
  input.push_back(last);
  input.push_back(0);
  Axes kernel = inner;  // [spatial, N, F] of [N, spatial, F]
  kernel.push_back(0);
  kernel.push_back(last);
  const Value y = conv(conv_merge(transpose(conv_split(x, last, a.groups), input), last), transpose(t, kernel),
                       r);  // [C / g, spatial, F]
  return transpose(y, kernel);
}

static Values conv_vjp(const VjpCall<ConvAttrs>& c) {
  return {c.wanted[0] ? conv_pull_input(c.attrs, conj(c.in[1]), c.cotangent[0], c.in[0].shape()) : Value{},
          c.wanted[1] ? conv_pull_kernel(c.attrs, conj(c.in[0]), c.cotangent[0], c.in[1].shape()) : Value{}};
}
static Values conv_jvp(const JvpCall<ConvAttrs>& c) {
  const Value x = c.tangent[0] ? conv(c.tangent[0], c.in[1], c.attrs) : Value{};
  const Value k = c.tangent[1] ? conv(c.in[0], c.tangent[1], c.attrs) : Value{};
  return {x && k ? add(x, k) : x ? x : k};
}

// A batch of inputs alone joins N; a batch of kernels makes a group for each member.
static Batched conv_batch(const BatchCall<ConvAttrs>& c) {
  const int last = c.in[1].rank() - 1 - (c.axes[1] >= 0);
  if (c.axes[1] < 0) {
    const Value x = lead(c.in[0], c.axes[0], c.size);
    Shape shape = x.shape();
    const Value y = conv(conv_merge(x, 0), c.in[1], c.attrs);
    Shape split = with_front(c.size, y.shape());
    split[1] = shape[1];
    return {{reshape(y, split)}, {0}};
  }
  if (c.size == 0) {  // No groups are no convolution.
    const TensorType one = c.graph.tensor_type(c.node.results[0]);
    return {{zeros(c.b, tensor(one.dtype, with_front(0, one.shape)))}, {0}};
  }
  ConvAttrs a = c.attrs;
  a.groups *= conv_size(c.size);
  const Value x = conv_merge(move_axis(lead(c.in[0], c.axes[0], c.size), 0, last), last);  // [N, spatial, B * C]
  const Value k = conv_merge(move_axis(lead(c.in[1], c.axes[1], c.size), 0, last), last);  // [spatial, C / g, B * F]
  return {{conv_split(conv(x, k, a), last, conv_size(c.size))}, {last}};
}

// Spatial dimensions are cut with a halo where the step is 1, channels only as one group.
static ShardRule conv_shard(const ConvAttrs& a, const Signature& s) {
  using K = ShardRule::Kind;
  const int spatial = conv_spatial(s);
  ShardRule r;
  Axes x{0}, k, y{0};
  r.factors.push_back({K::passed, 0});
  for (int i = 0; i < spatial; ++i) {
    const auto d = static_cast<std::size_t>(i);
    const Dim window = conv_window(a, s.shape(1), d);
    const bool same = entry(a.stride, d, 1) == 1 && entry(a.input_dilation, d, 1) == 1 &&
                      window == entry(a.low, d, 0) * 2 + 1 && entry(a.low, d, 0) == entry(a.high, d, 0);
    r.factors.push_back(same ? ShardRule::Factor{K::halo, static_cast<int>(entry(a.low, d, 0))}
                             : ShardRule::Factor{K::whole, 0});
    x.push_back(i + 1);
    y.push_back(i + 1);
    k.push_back(-1);
  }
  r.factors.push_back({a.groups == 1 ? K::reduced : K::whole, 0});
  r.factors.push_back({a.groups == 1 ? K::passed : K::whole, 0});
  x.push_back(spatial + 1);
  k.push_back(a.groups == 1 ? spatial + 1 : -1);
  k.push_back(spatial + 2);
  y.push_back(spatial + 2);
  r.operands = {x, k};
  r.results = {y};
  return r;
}
static Cost conv_cost(const ConvAttrs& a, const Signature& s) {
  const Types r = conv_infer(a, s);
  Dim n = std::get<TensorType>(r[0]).numel() * (is_complex(s.dtype(0)) ? 8 : 2);
  for (int d = 0; d + 1 < s.rank(1); ++d) n = n * s.tensor(1).dim(d);
  return cost_of(s, r, n);
}

extern const OpDef<ConvAttrs> conv_op{
    .name = "conv",
    .doc = "Convolution (without reversal of the kernel) of [N, spatial, C] with [spatial, C / groups, F].",
    .operands = conv_operands,
    .constraints = conv_constraints,
    .infer = conv_infer,
    .meaning = Primitive<ConvAttrs>{conv_reference},
    .vjp = Vjp<ConvAttrs>{conv_vjp},
    .jvp = conv_jvp,
    .batch = conv_batch,
    .shard = conv_shard,
    .cost = conv_cost,
    .samples = []() -> std::vector<Sample<ConvAttrs>> {
      using C = ConvAttrs;
      const auto with = [](auto change) {
        C a;
        change(a);
        return a;
      };
      const SampleOperand x{f32({1, 4, 1}), {1, 2, 3, 4}}, k{f32({2, 1, 1}), {1, 10}};
      return {sample<C>({f64({2, 5, 6, 3}), f64({3, 2, 3, 4})}, C{{2, 1}, {1, 0}, {1, 1}, {}, {1, 2}}),
              sample<C>({f64({2, 5, 4}), f64({2, 2, 6})}, C{{2}, {1}, {2}, {3}, {2}, 2}),
              sample<C>({f64({1, 7, 3}), f64({3, 1, 3})}, C{{3}, {-1}, {1}, {}, {}, 3}),
              sample<C>({f64({2, 3}), f64({3, 4})}),
              sample<C>({c128({1, 3, 1}), c128({2, 1, 1})}),
              sample<C>({x, k}).expects({{21, 32, 43}}).exact(),
              sample<C>({x, k}, with([](C& a) {
                          a.stride = {2};
                          a.low = {1};
                        }))
                  .expects({{10, 32}})
                  .exact(),
              sample<C>({x, k}, with([](C& a) { a.kernel_dilation = {2}; })).expects({{31, 42}}).exact(),
              sample<C>({x, k}, with([](C& a) { a.input_dilation = {2}; })).expects({{1, 20, 2, 30, 3, 40}}).exact(),
              sample<C>({{f32({1, 1, 2}), {2, 3}}, {f32({1, 1, 2}), {5, 7}}}, with([](C& a) { a.groups = 2; }))
                  .expects({{10, 21}})
                  .exact(),
              sample<C>({f64({0, 3, 1}), f64({2, 1, 2})}),
              sample<C>({f64({1, 3, 0}), f64({2, 0, 2})}).expects({{0, 0, 0, 0}}).exact(),
              sample<C>({f32({1, 4, 1}), f64({2, 1, 1})}).breaking("C1"),
              sample<C>({f32({1, 4, 1}), f32({2, 2, 1, 1})}).breaking("C1"),
              sample<C>({x, k}, with([](C& a) { a.stride = {1, 1}; })).breaking("C2"),
              sample<C>({x, k}, with([](C& a) { a.stride = {0}; })).breaking("C3"),
              sample<C>({x, k}, with([](C& a) { a.groups = 0; })).breaking("C3"),
              sample<C>({f32({1, 4, 3}), f32({2, 2, 1})}).breaking("C4"),
              sample<C>({f32({1, 4, 2}), f32({2, 1, 3})}, with([](C& a) { a.groups = 2; })).breaking("C5"),
              sample<C>({f32({1, 0, 1}), f32({1, 1, 1})}).breaking("C6"),
              sample<C>({x, f32({5, 1, 1})}).breaking("C7"),
              sample<C>({x, k}, with([](C& a) { a.accumulate = DType::bf16; })).breaking("C8"),
              sample<C>({f64({1, 4, 1}), f64({2, 1, 1})}, with([](C& a) { a.algorithm = Algorithm::bf16x3; }))
                  .breaking("C9")};
    }};

}  // namespace rlx::ops
