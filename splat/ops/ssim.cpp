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

// One of the two passes of the Gaussian window, along `axis`: sums of shifted images, with so many zeros around them.
static Value blurred(Value x, int axis, std::int64_t zeros) {
  std::array<double, window> weights{};
  double total = 0;
  for (std::int64_t i = 0; i < window; ++i)
    total += weights[static_cast<std::size_t>(i)] =
        std::exp(-static_cast<double>((i - reach) * (i - reach)) / (2 * deviation * deviation));
  if (zeros > 0) {
    std::vector<std::int64_t> around(static_cast<std::size_t>(x.rank()), 0);
    around[static_cast<std::size_t>(axis)] = zeros;
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

/// Fields [.., h, w, c], all alike, through the window together, along a new first dimension.
static Values windowed(ValuesIn fields, std::int64_t zeros) {
  Values planes;
  for (const Value& v : fields) planes.push_back(with_axis(v, 0));
  const int h = fields[0].rank() - 2, w = h + 1;
  const Value all = blurred(blurred(ops::concat(planes, 0), h, zeros), w, zeros);
  const Shape one(all.shape().begin() + 1, all.shape().end());
  Values out;
  for (int k = 0; k < static_cast<int>(fields.size()); ++k)
    out.push_back(ops::reshape(ops::slice_axis(all, 0, k, k + 1), one));
  return out;
}
static std::int64_t zeros_around(const A& a) { return a.padding == Padding::same ? reach : 0; }

/// Similarity at each pixel: a1 a2 / (b1 b2).
struct Similarity {
  Value mx, my;  ///< Means.
  Value a1, a2, b1, b2;
  Similarity(const A& a, Value x, Value y) {
    const Values m = windowed(Values{x, y, x * x, y * y, x * y}, zeros_around(a));
    mx = m[0], my = m[1];
    const Value mxx = mx * mx, myy = my * my, mxy = mx * my;
    const double c1 = 0.01 * 0.01 * a.range * a.range, c2 = 0.03 * 0.03 * a.range * a.range;
    a1 = 2.0 * mxy + c1, a2 = 2.0 * (m[4] - mxy) + c2;
    b1 = mxx + myy + c1, b2 = (m[2] - mxx) + (m[3] - myy) + c2;
  }
};

static Values ssim_decompose(Builder&, const A& a, ValuesIn in) {
  const Similarity s(a, in[0], in[1]);
  const int r = in[0].rank();
  return {ops::mean((s.a1 * s.a2) / (s.b1 * s.b2), {r - 3, r - 2, r - 1})};
}

// By the moments at each pixel, and back through the window: the transposed one is itself, over more zeros.
static Values ssim_vjp(const VjpCall<A>& c) {
  Values out(2);
  if (!c.wanted[0] && !c.wanted[1]) return out;
  const Value x = c.in[0], y = c.in[1];
  const Similarity s(c.attrs, x, y);
  const Shape shape = s.mx.shape();
  const std::size_t r = shape.size();
  const Value count = ops::dim_size(c.b, shape[r - 3] * shape[r - 2] * shape[r - 1], x.dtype());
  const Value share = ops::div(c.cotangent[0], ops::broadcast_to(count, c.cotangent[0].shape()));
  std::vector<int> axes;
  for (int d = 0; d < c.cotangent[0].rank(); ++d) axes.push_back(d);
  const Value g = ops::broadcast(share, shape, axes), both = g / (s.b1 * s.b2);
  const Value by_product = 2.0 * both * s.a1, similar = both * s.a1 * s.a2;
  const Value by_square = ops::neg(similar / s.b2), centre = 2.0 * similar * (1.0 / s.b2 - 1.0 / s.b1);
  const Value across = 2.0 * both * (s.a2 - s.a1);
  Values fields{by_product, by_square};
  if (c.wanted[0]) fields.push_back(across * s.my + centre * s.mx);
  if (c.wanted[1]) fields.push_back(across * s.mx + centre * s.my);
  const Values back = windowed(fields, window - 1 - zeros_around(c.attrs));
  if (c.wanted[0]) out[0] = back[2] + 2.0 * x * back[1] + y * back[0];
  if (c.wanted[1]) out[1] = back.back() + 2.0 * y * back[1] + x * back[0];
  return out;
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
    .vjp = Vjp<A>{ssim_vjp},
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
