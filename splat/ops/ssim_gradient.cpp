#include "splat/ops/similarity.hpp"

namespace rlx::splat {

using A = SsimAttrs;
constexpr Operand gradient_operands[] = {{"x", reals}, {"y", reals}, {"cotangent", reals}};
constexpr Constraint<A> gradient_constraints[] = {
    {"C1", "all have one dtype", [](const A&, const Signature& s) { return one_dtype(s, 0, 2); }},
    {"C2", "x and y are [.., h, w, c] and alike", ssim_images},
    {"C3", "no image is empty; without padding it holds the window of 11 x 11", ssim_sizes},
    {"C4", "range > 0 and finite", ssim_range},
    {"C5", "cotangent is [..]",
     [](const A&, const Signature& s) { return has_shape(s, 2, with_last(s.shape(0), 3, {})); }}};

static Types gradient_infer(const A&, const Signature& s) { return {s.tensor(0)}; }

// By the moments at each pixel, and back through the window: the transposed one is itself, over more zeros.
static Values gradient_decompose(Builder& b, const A& a, ValuesIn in) {
  const Value x = in[0], y = in[1], cotangent = in[2];
  const Similarity s(a, x, y);
  const Shape shape = s.mx.shape();
  const std::size_t r = shape.size();
  const Value count = ops::dim_size(b, shape[r - 3] * shape[r - 2] * shape[r - 1], x.dtype());
  std::vector<int> axes;
  for (int d = 0; d < cotangent.rank(); ++d) axes.push_back(d);
  const Value g = ops::broadcast(ops::div(cotangent, ops::broadcast_to(count, cotangent.shape())), shape, axes);
  const Value both = g / (s.b1 * s.b2), similar = both * s.a1 * s.a2;
  const Value by_product = 2.0 * both * s.a1, by_square = ops::neg(similar / s.b2);
  const Value by_mean = 2.0 * both * (s.a2 - s.a1) * s.my + 2.0 * similar * (1.0 / s.b2 - 1.0 / s.b1) * s.mx;
  const Values back = windowed(Values{by_product, by_square, by_mean}, ssim_window - 1 - ssim_zeros(a));
  return {back[2] + 2.0 * x * back[1] + y * back[0]};
}

static Batched gradient_batch(const BatchCall<A>& c) {
  Values in;
  for (std::size_t i = 0; i < 3; ++i) in.push_back(leading(c.in[i], c.axes[i], c.size));
  return {c.b.emit("splat.ssim_gradient", in, c.attrs), {0}};
}

static ShardRule gradient_shard(const A&, const Signature& s) {
  ShardRule r;
  std::vector<int> images;
  for (int d = 0; d + 3 < s.rank(0); ++d) r.factors.push_back({}), images.push_back(d);
  std::vector<int> whole = images;
  whole.insert(whole.end(), {-1, -1, -1});
  r.operands = {whole, whole, images};
  r.results = {whole};
  return r;
}

extern const OpDef<A> ssim_gradient_op{
    .name = "splat.ssim_gradient",
    .doc = "The gradient of splat.ssim to its first operand, times the cotangent of each image.",
    .operands = gradient_operands,
    .constraints = gradient_constraints,
    .infer = gradient_infer,
    .meaning = Composite<A>{gradient_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = gradient_batch,
    .shard = gradient_shard,
    .cost =
        [](const A& a, const Signature& s) {
          return cost_of(s, gradient_infer(a, s), s.tensor(0).numel() * (8 * 4 * ssim_window + 40));
        },
    .samples = []() -> std::vector<Sample<A>> {
      const auto image = [](DType t, Shape shape) {
        return SampleOperand{tensor(t, std::move(shape)), Fill::uniform, 0, 1};
      };
      // Constant images inside the window: the derivative of (2 x y + C1) / (x^2 + y^2 + C1), spread by the weights.
      const std::vector<double> halves(11 * 11, 0.5), quarters(11 * 11, 0.25);
      const double scale = 0.25 + 0.0625 + 1e-4, slope = 0.5 / scale - (0.25 + 1e-4) / (scale * scale);
      std::vector<double> spread;
      for (const double i : ssim_weights())
        for (const double j : ssim_weights()) spread.push_back(2 * slope * i * j);
      const SampleOperand one{f64({})}, two{f64({}), {2}};
      return {sample<A>({image(DType::f64, {13, 12, 2}), image(DType::f64, {13, 12, 2}), one}).within(1e-12),
              sample<A>({image(DType::f64, {2, 12, 13, 1}), image(DType::f64, {2, 12, 13, 1}), f64({2})},
                        {.padding = Padding::valid, .range = 2})
                  .within(1e-12),
              sample<A>({image(DType::f32, {20, 17, 3}), image(DType::f32, {20, 17, 3}), f32({})}).within(1e-5),
              sample<A>({image(DType::f32, {2, 14, 19, 1}), image(DType::f32, {2, 14, 19, 1}), f32({2})},
                        {.padding = Padding::valid})
                  .within(1e-5),
              sample<A>({{f64({11, 11, 1}), halves}, {f64({11, 11, 1}), quarters}, two}, {.padding = Padding::valid})
                  .expects({spread})
                  .within(1e-11)
                  .without_gradients(),
              sample<A>({f32({2, 3, 1}), f64({2, 3, 1}), f32({})}).breaking("C1"),
              sample<A>({f64({3, 2, 1}), f64({2, 3, 1}), f64({})}).breaking("C2"),
              sample<A>({f64({11, 10, 1}), f64({11, 10, 1}), f64({})}, {.padding = Padding::valid}).breaking("C3"),
              sample<A>({f64({2, 3, 1}), f64({2, 3, 1}), f64({})}, {.range = 0}).breaking("C4"),
              sample<A>({f64({2, 3, 1}), f64({2, 3, 1}), f64({1})}).breaking("C5")};
    }};

}  // namespace rlx::splat
