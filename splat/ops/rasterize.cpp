#include "splat/ops/rasterizing.hpp"

namespace rlx::splat {

using A = RasterizeAttrs;
constexpr DTypeSet integers{DType::i32};
constexpr Operand rasterize_operands[] = {
    {"means", reals},       {"conics", reals}, {"opacities", reals},  {"features", reals},
    {"backgrounds", reals}, {"ids", integers}, {"offsets", integers}, {"probe", reals, OperandKind::tensor, true}};
constexpr Constraint<A> rasterize_constraints[] = {
    {"C1", "means, conics, opacities, features and backgrounds have one dtype", rasterize_dtypes},
    {"C2", "width and height are from 1 to 2^24, tile from 1 to 64", rasterize_sizes},
    {"C3", "means is [c, n, 2]", rasterize_means},
    {"C4", "conics is [c, n, 3], opacities [c, n]", rasterize_gaussians},
    {"C5", "features is [c, n, f], backgrounds [c, f]", rasterize_features},
    {"C6", "ids is [k], offsets [c * tiles + 1]", rasterize_lists},
    {"C7", "there is at most one probe, which is like means", [](const A&, const Signature& s) -> Answer {
       if (s.size() == lists_end) return true;
       if (s.size() != lists_end + 1) return Answer::no(std::to_string(s.size() - lists_end) + " probes");
       if (s.dtype(lists_end) != s.dtype(means_at)) return Answer::no("another dtype");
       return has_shape(s, lists_end, s.shape(means_at));
     }}};

static Types rasterize_infer(const A& a, const Signature& s) {
  const Dim c = s.shape(means_at)[0];
  const DType t = s.dtype(means_at);
  return {tensor(t, {c, a.height, a.width, s.shape(features_at)[2]}), tensor(t, {c, a.height, a.width}),
          i32({c, a.height, a.width})};
}

// State: position, features gathered [t, p, f], transmittance [t, p], whether the pixel has ended, positions up to the
// last one used.
static Values rasterize_decompose(Builder& b, const A& a, ValuesIn in) {
  const TileGrid grid(a);
  const Lists lists(in);
  const Dim t = lists.starts.shape()[0], f = in[features_at].shape()[2];
  const DType real = in[means_at].dtype();
  const Shape pixels{t, grid.pixels()};
  const Values state{ops::scalar(b, DType::i32, 0), ops::full(b, real, {t, grid.pixels(), f}, 0),
                     ops::full(b, real, pixels, 1), ops::full(b, DType::boolean, pixels, 0),
                     ops::full(b, DType::i32, pixels, 0)};
  Values invariants = lists.values();
  invariants.push_back(lists.longest());
  const Values out = ops::while_(
      state, invariants, [](ValuesIn v) -> Values { return {ops::compare(v[0], v[9], ops::Direction::lt)}; },
      [&](ValuesIn v) -> Values {
        const Splat s = splat_at(grid, Lists::from(v.subspan(5)), v[0]);
        const Value left = v[2] * (1.0 - s.alpha);
        const Value open = ops::logical_and(s.counts, ops::logical_not(v[3]));
        const Value ends = ops::compare(left, ops::full_like(left, least_transmittance), ops::Direction::le);
        const Value used = ops::logical_and(open, ops::logical_not(ends));
        const Value share = with_axis(s.alpha * v[2], 2) * s.features;
        const Value next = ops::add(v[0], ops::scalar(*v[0].builder, DType::i32, 1));
        return {next, v[1] + ops::select(with_axis(used, 2), share, ops::zeros_like(share)),
                ops::select(used, left, v[2]), ops::logical_or(v[3], ops::logical_and(open, ends)),
                ops::select(used, ops::broadcast_to(next, v[4].shape()), v[4])};
      });
  const Value transmittance = grid.to_image(out[2]);
  const Value background = ops::reshape(in[backgrounds_at], {in[backgrounds_at].shape()[0], 1, 1, f});
  return {grid.to_image(out[1]) + with_axis(transmittance, 3) * background, transmittance, grid.to_image(out[4])};
}

// The image and what a pixel lets through, from the last Gaussian back to the first: an operator of its own, so that a
// device may bring a kernel for it.
static Values rasterize_vjp(const VjpCall<A>& c) {
  Values out(c.in.size());
  if (!c.cotangent[0] && !c.cotangent[1]) return out;
  const Value image = c.cotangent[0] ? c.cotangent[0] : ops::zeros_like(c.out[0]);
  const Value through = c.cotangent[1] ? c.cotangent[1] : ops::zeros_like(c.out[1]);
  if (c.wanted[backgrounds_at]) out[backgrounds_at] = ops::reduce_sum(with_axis(c.out[1], 3) * image, {1, 2});
  bool any = c.in.size() > lists_end && c.wanted[lists_end];
  for (std::size_t i = means_at; i <= features_at; ++i) any |= c.wanted[i];
  if (!any) return out;
  Values operands(c.in.begin(), c.in.begin() + lists_end);
  operands.insert(operands.end(), {c.out[1], c.out[2], image, through});
  const Values g = c.b.emit("splat.rasterize_gradient", operands, c.attrs);
  for (std::size_t i = means_at; i <= features_at; ++i)
    if (c.wanted[i]) out[i] = g[i];
  if (c.in.size() > lists_end && c.wanted[lists_end]) out[lists_end] = g[4];
  return out;
}

extern const OpDef<A> rasterize_op{
    .name = "splat.rasterize",
    .doc =
        "Images of the Gaussians that lists name for each tile, blended front to back. Gives features over the "
        "background, "
        "what remains of the light behind the last Gaussian, and how many positions of its tile's list a pixel used. "
        "alpha = "
        "min(0.999, opacity exp(-sigma)), sigma half the conic's form of the distance from the mean to the pixel's "
        "centre; "
        "below 1/255, or for a negative sigma, a Gaussian leaves the pixel alone, and one that would take what remains "
        "to 1e-4 or "
        "below ends the pixel and is left out. offsets delimit the lists of the tiles of all images, row by row; ids "
        "count the "
        "Gaussians of all images. A probe adds nothing and gets, instead of a derivative, the sum over pixels of the "
        "magnitudes of the gradient of means. Source: B. Kerbl et al., ACM TOG 42 (2023).",
    .operands = rasterize_operands,
    .constraints = rasterize_constraints,
    .infer = rasterize_infer,
    .meaning = Composite<A>{rasterize_decompose},
    .vjp = Vjp<A>{rasterize_vjp},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = Never{"lists are cut by tiles, whose lengths no dimension states"},
    .cost =
        [](const A& a, const Signature& s) {
          const Dim pairs = s.shape(ids_at)[0] * (a.tile * a.tile);
          return cost_of(s, rasterize_infer(a, s), pairs * (s.shape(features_at)[2] * 2 + 20));
        },
    .samples = []() -> std::vector<Sample<A>> {
      const A small{.width = 7, .height = 5, .tile = 4};
      auto probed = raster_sample(DType::f64, 2);
      probed.push_back({f64({2, 3, 2}), {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
      probed.back().differentiable = false;
      // One pixel: at the centre of two Gaussians; the second one would end it; too faint; no list.
      const auto pixel = [](std::vector<double> opacities, std::vector<double> ids) -> std::vector<SampleOperand> {
        const auto k = static_cast<double>(ids.size());
        return {{f64({1, 2, 2}), {0.5, 0.5, 0.5, 0.5}},
                {f64({1, 2, 3}), {1, 0, 1, 1, 0, 1}},
                {f64({1, 2}), opacities},
                {f64({1, 2, 1}), {1, 2}},
                {f64({1, 1}), {4}},
                {i32({static_cast<std::int64_t>(ids.size())}), ids},
                {i32({2}), {0, k}}};
      };
      const A one{.width = 1, .height = 1, .tile = 1};
      const auto broken = [&](std::size_t at, SampleOperand with, std::string_view id) {
        auto in = raster_sample(DType::f64, 2);
        in[at] = std::move(with);
        return sample<A>(std::move(in), small).breaking(id);
      };
      auto twice = probed;
      twice.push_back(f64({2, 3, 2}));
      return {sample<A>(raster_sample(DType::f64, 2), small).within(1e-12),
              sample<A>(probed, small).within(1e-12),
              sample<A>(raster_sample(DType::f32, 3), small).within(1e-5),
              sample<A>(raster_sample(DType::f32, 5), {.width = 7, .height = 5, .tile = 4}).within(1e-5),
              sample<A>(pixel({0.5, 0.5}, {0, 1}), one).expects({{2}, {0.25}, {2}}),
              sample<A>(pixel({0.5, 0.5}, {1, 0}), one).expects({{2.25}, {0.25}, {2}}),
              sample<A>(pixel({1, 1}, {0, 1}), one).expects({{0.999 + 0.001 * 4}, {0.001}, {1}}).without_gradients(),
              sample<A>(pixel({0.003, 0.5}, {0, 1}), one).expects({{3}, {0.5}, {2}}).without_gradients(),
              sample<A>({f64({1, 0, 2}),
                         f64({1, 0, 3}),
                         f64({1, 0}),
                         f64({1, 0, 1}),
                         {f64({1, 1}), {4}},
                         i32({0}),
                         {i32({2}), {0, 0}}},
                        one)
                  .expects({{4}, {1}, {0}}),
              broken(conics_at, f32({2, 3, 3}), "C1"),
              sample<A>(pixel({1, 1}, {0, 1}), {.width = 0}).breaking("C2"),
              sample<A>(pixel({1, 1}, {0, 1}), {.width = 1, .height = 1, .tile = 65}).breaking("C2"),
              broken(means_at, f64({2, 3, 3}), "C3"),
              broken(opacities_at, f64({2, 4}), "C4"),
              broken(backgrounds_at, f64({2, 3}), "C5"),
              broken(offsets_at, i32({8}), "C6"),
              sample<A>(twice, small).breaking("C7")};
    },
    .traits = Trait::padded};

}  // namespace rlx::splat
