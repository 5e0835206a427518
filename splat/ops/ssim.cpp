#include "splat/ops/common.hpp"

#include <cmath>

namespace rlx::splat {

using A = SsimAttrs;
constexpr std::int64_t window = 11, reach = window / 2;
constexpr double deviation = 1.5;  // Of the window, pixels.

constexpr Operand ssim_operands[] = {{"x", reals}, {"y", reals}};
constexpr Constraint<A> ssim_constraints[] = {
    {"C1", "both have one dtype", [](const A&, const Signature& s) { return one_dtype(s, 0, 1); }},
    {"C2", "both are [.., h, w, c] and alike",
     [](const A&, const Signature& s) -> Answer {
       if (s.rank(0) < 3) return Answer::no("rank " + std::to_string(s.rank(0)));
       return has_shape(s, 1, s.shape(0));
     }},
    {"C3", "no image is empty; without padding it holds the window of 11 x 11",
     [](const A& a, const Signature& s) {
       const Shape& shape = s.shape(0);
       const std::int64_t least = a.padding == Padding::valid ? window : 1;
       const std::size_t r = shape.size();
       return s.less_equal(least, shape[r - 3]) && s.less_equal(least, shape[r - 2]) && s.less_equal(1, shape[r - 1]);
     }},
    {"C4", "range > 0 and finite",
     [](const A& a, const Signature&) -> Answer { return a.range > 0 && std::isfinite(a.range); }}};

static Types ssim_infer(const A&, const Signature& s) { return {tensor(s.dtype(0), with_last(s.shape(0), 3, {}))}; }

// One of the two passes of the Gaussian window, along `axis`: sums of shifted images.
static Value blurred(Value x, int axis, Padding padding) {
  std::array<double, window> weights{};
  double total = 0;
  for (std::int64_t i = 0; i < window; ++i)
    total += weights[static_cast<std::size_t>(i)] =
        std::exp(-static_cast<double>((i - reach) * (i - reach)) / (2 * deviation * deviation));
  if (padding == Padding::same) {
    std::vector<std::int64_t> around(static_cast<std::size_t>(x.rank()), 0);
    around[static_cast<std::size_t>(axis)] = reach;
    x = ops::pad(x, ops::scalar(*x.builder, x.dtype(), 0), around, around);
  }
  const Dim size = x.shape()[static_cast<std::size_t>(axis)] - (window - 1);
  Value sum;
  for (std::int64_t i = 0; i < window; ++i) {
    const Value term = ops::slice_axis(x, axis, i, size + i) * (weights[static_cast<std::size_t>(i)] / total);
    sum = sum ? sum + term : term;
  }
  return sum;
}

// All five moments go through the window together, along a new first dimension.
static Values ssim_decompose(Builder&, const A& a, ValuesIn in) {
  const Value x = in[0], y = in[1];
  Values fields;
  for (const Value& v : {x, y, x * x, y * y, x * y}) fields.push_back(with_axis(v, 0));
  const int h = x.rank() - 2, w = h + 1;
  const Value moments = blurred(blurred(ops::concat(fields, 0), h, a.padding), w, a.padding);
  const auto moment = [&](int k) {
    return ops::reshape(ops::slice_axis(moments, 0, k, k + 1),
                        Shape(moments.shape().begin() + 1, moments.shape().end()));
  };
  const Value mx = moment(0), my = moment(1), mxx = mx * mx, myy = my * my, mxy = mx * my;
  const double c1 = 0.01 * 0.01 * a.range * a.range, c2 = 0.03 * 0.03 * a.range * a.range;
  const Value similar = (2.0 * mxy + c1) * (2.0 * (moment(4) - mxy) + c2);
  const Value scale = (mxx + myy + c1) * ((moment(2) - mxx) + (moment(3) - myy) + c2);
  return {ops::mean(similar / scale, {x.rank() - 3, x.rank() - 2, x.rank() - 1})};
}

static Batched ssim_batch(const BatchCall<A>& c) {
  const Values in{leading(c.in[0], c.axes[0], c.size), leading(c.in[1], c.axes[1], c.size)};
  return {c.b.emit("splat.ssim", in, c.attrs), {0}};
}

static ShardRule ssim_shard(const A&, const Signature& s) {
  ShardRule r;
  std::vector<int> images;
  for (int d = 0; d + 3 < s.rank(0); ++d) r.factors.push_back({}), images.push_back(d);
  r.results = {images};
  images.insert(images.end(), {-1, -1, -1});
  r.operands = {images, images};
  return r;
}

extern const OpDef<A> ssim_op{
    .name = "splat.ssim",
    .doc =
        "Structural similarity of images, the mean over pixels and channels, with a Gaussian window of 11 x 11 pixels "
        "and "
        "deviation 1.5, K1 0.01 and K2 0.03. With padding `same` the window reads zeros outside the image, as training "
        "code of "
        "splatting does; with `valid` it stays inside. Source: Z. Wang et al., IEEE TIP 13 (2004).",
    .operands = ssim_operands,
    .constraints = ssim_constraints,
    .infer = ssim_infer,
    .meaning = Composite<A>{ssim_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = ssim_batch,
    .shard = ssim_shard,
    .cost =
        [](const A& a, const Signature& s) {
          return cost_of(s, ssim_infer(a, s), s.tensor(0).numel() * (5 * 4 * window + 20));
        },
    .samples = []() -> std::vector<Sample<A>> {
      const auto image = [](DType t, Shape shape) {
        return SampleOperand{tensor(t, std::move(shape)), Fill::uniform, 0, 1};
      };
      const std::vector<double> halves(11 * 11, 0.5), quarters(11 * 11, 0.25);
      // Constant images inside the window: variances vanish, and (2 mx my + C1) / (mx^2 + my^2 + C1) remains.
      const double luminance = (2 * 0.125 + 1e-4) / (0.25 + 0.0625 + 1e-4);
      return {sample<A>({image(DType::f64, {13, 12, 2}), image(DType::f64, {13, 12, 2})}).within(1e-12),
              sample<A>({image(DType::f64, {2, 12, 13, 1}), image(DType::f64, {2, 12, 13, 1})},
                        {.padding = Padding::valid, .range = 2})
                  .within(1e-12),
              sample<A>({image(DType::f64, {2, 3, 1}), image(DType::f64, {2, 3, 1})}).within(1e-12),
              sample<A>({image(DType::f32, {20, 17, 3}), image(DType::f32, {20, 17, 3})}).within(1e-5),
              sample<A>({{f64({11, 11, 1}), halves}, {f64({11, 11, 1}), quarters}}, {.padding = Padding::valid})
                  .expects({{luminance}})
                  .within(1e-12),
              sample<A>({f32({2, 3, 1}), f64({2, 3, 1})}).breaking("C1"),
              sample<A>({f64({3, 1}), f64({3, 1})}).breaking("C2"),
              sample<A>({f64({3, 2, 1}), f64({2, 3, 1})}).breaking("C2"),
              sample<A>({f64({11, 10, 1}), f64({11, 10, 1})}, {.padding = Padding::valid}).breaking("C3"),
              sample<A>({f64({0, 10, 1}), f64({0, 10, 1})}).breaking("C3"),
              sample<A>({f64({2, 3, 1}), f64({2, 3, 1})}, {.range = 0}).breaking("C4")};
    }};

}  // namespace rlx::splat
