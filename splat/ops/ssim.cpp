#include "splat/ops/similarity.hpp"

namespace rlx::splat {

using A = SsimAttrs;
constexpr Operand ssim_operands[] = {{"x", reals}, {"y", reals}};
constexpr Constraint<A> ssim_constraints[] = {
    {"C1", "both have one dtype", [](const A&, const Signature& s) { return one_dtype(s, 0, 1); }},
    {"C2", "both are [.., h, w, c] and alike", ssim_images},
    {"C3", "no image is empty; without padding it holds the window of 11 x 11", ssim_sizes},
    {"C4", "range > 0 and finite", ssim_range}};

static Types ssim_infer(const A&, const Signature& s) { return {tensor(s.dtype(0), with_last(s.shape(0), 3, {}))}; }

static Values ssim_decompose(Builder&, const A& a, ValuesIn in) {
  const Similarity s(a, in[0], in[1]);
  const int r = in[0].rank();
  return {ops::mean((s.a1 * s.a2) / (s.b1 * s.b2), {r - 3, r - 2, r - 1})};
}

// An operator of its own, so that a device may bring a kernel for it. Similarity is symmetric.
static Values ssim_vjp(const VjpCall<A>& c) {
  Values out(2);
  for (std::size_t i = 0; i < 2; ++i)
    if (c.wanted[i]) out[i] = c.b.emit("splat.ssim_gradient", {c.in[i], c.in[1 - i], c.cotangent[0]}, c.attrs)[0];
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
          // Five fields along the rows and then along the columns, of which padding `valid` leaves fewer.
          Shape image = s.shape(0);
          const std::int64_t less = a.padding == Padding::valid ? 2 * ssim_reach : 0;
          const std::size_t rank = image.size();
          image[rank - 2] = image[rank - 2] - less;
          const Dim along_rows = element_count(image);
          image[rank - 3] = image[rank - 3] - less;
          const Dim along_columns = element_count(image);
          return cost_of(s, ssim_infer(a, s),
                         (along_rows + along_columns) * (5 * 2 * ssim_window) + along_columns * 20);
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
