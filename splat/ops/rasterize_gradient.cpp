#include "splat/ops/rasterizing.hpp"

namespace rlx::splat {

using A = RasterizeAttrs;
enum : std::size_t { transmittance_at = lists_end, used_at, image_at, through_at };
constexpr DTypeSet integers{DType::i32};
constexpr Operand gradient_operands[] = {{"means", reals},      {"conics", reals},        {"opacities", reals},
                                         {"features", reals},   {"backgrounds", reals},   {"ids", integers},
                                         {"offsets", integers}, {"transmittance", reals}, {"used", integers},
                                         {"image", reals},      {"through", reals}};
constexpr Constraint<A> gradient_constraints[] = {
    {"C1", "means, conics, opacities, features and backgrounds have one dtype", rasterize_dtypes},
    {"C2", "width and height are from 1 to 2^24, tile from 1 to 64", rasterize_sizes},
    {"C3", "means is [c, n, 2]", rasterize_means},
    {"C4", "conics is [c, n, 3], opacities [c, n]", rasterize_gaussians},
    {"C5", "features is [c, n, f], backgrounds [c, f]", rasterize_features},
    {"C6", "ids is [k], offsets [c * tiles + 1]", rasterize_lists},
    {"C7",
     "transmittance, used and through are [c, height, width], image [c, height, width, f]; the reals are like means",
     [](const A& a, const Signature& s) -> Answer {
       const Shape pixels{s.shape(means_at)[0], a.height, a.width};
       for (std::size_t i : {transmittance_at, image_at, through_at})
         if (s.dtype(i) != s.dtype(means_at)) return Answer::no("another dtype");
       return has_shape(s, transmittance_at, pixels) && has_shape(s, used_at, pixels) &&
              has_shape(s, through_at, pixels) &&
              has_shape(s, image_at, with_last(pixels, 0, {s.shape(features_at)[2]}));
     }}};

static Types gradient_infer(const A&, const Signature& s) {
  return {s.tensor(means_at), s.tensor(conics_at), s.tensor(opacities_at), s.tensor(features_at), s.tensor(means_at)};
}

// What one position of every list gets from the pixels of its tile: [t, 8 + f], in the order of Lists::table and then
// the magnitudes for means. `light` is what reaches the Gaussian, `slope` the derivative by its alpha, both [t, p].
static Value row_of(const Splat& s, Value used, Value light, Value slope, Value image) {
  const auto sum = [](Value flag, Value x) {
    return ops::reduce_sum(ops::select(flag, x, ops::zeros_like(x)), {1}, true);
  };
  const Value free = ops::logical_and(used, ops::logical_not(s.capped));
  const Value by_sigma = ops::neg(slope * s.opacity * s.falloff);
  const Value gx = by_sigma * (s.conic[0] * s.dx + s.conic[1] * s.dy),
              gy = by_sigma * (s.conic[1] * s.dx + s.conic[2] * s.dy);
  const Value share = with_axis(s.alpha * light, 2) * image;
  const Value features = ops::reduce_sum(ops::select(with_axis(used, 2), share, ops::zeros_like(share)), {1});
  return ops::concat(Values{sum(free, gx), sum(free, gy), sum(free, 0.5 * (s.dx * s.dx) * by_sigma),
                            sum(free, s.dx * s.dy * by_sigma), sum(free, 0.5 * (s.dy * s.dy) * by_sigma),
                            sum(free, s.falloff * slope), features, sum(free, ops::abs(gx)), sum(free, ops::abs(gy))},
                     1);
}

// From the last position back to the first. State: position, the light that passes it [t, p], what lies behind it
// weighted with the cotangents [t, p], and a row for each entry of the lists [k + 1, 8 + f]; the lists that have ended
// write zeros to the end. The rows of a Gaussian are then added in the order of the lists.
static Values gradient_decompose(Builder& b, const A& a, ValuesIn in) {
  const TileGrid grid(a);
  const Lists lists(in);
  const Dim k = in[ids_at].shape()[0], f = in[features_at].shape()[2], c = in[means_at].shape()[0],
            n = in[means_at].shape()[1];
  const DType real = in[means_at].dtype();
  const Value background = ops::reshape(in[backgrounds_at], {c, 1, 1, f});
  const Value behind = in[transmittance_at] * (ops::reduce_sum(in[image_at] * background, {3}) + in[through_at]);
  const Value last = ops::sub(lists.longest(), ops::scalar(b, DType::i32, 1));
  const Values state{last, grid.to_tiles(in[transmittance_at]), grid.to_tiles(behind),
                     ops::full(b, real, {k + 1, f + 8}, 0)};
  Values invariants = lists.values();
  invariants.push_back(grid.to_tiles(in[used_at]));
  invariants.push_back(grid.to_tiles(in[image_at]));
  const Values out = ops::while_(
      state, invariants,
      [](ValuesIn v) -> Values {
        return {ops::compare(v[0], ops::scalar(*v[0].builder, DType::i32, 0), ops::Direction::ge)};
      },
      [&](ValuesIn v) -> Values {
        const Value light = v[1], behind = v[2], image = v[9];
        const Splat s = splat_at(grid, Lists::from(v.subspan(4)), v[0]);
        const Value used =
            ops::logical_and(s.counts, ops::compare(ops::broadcast_to(v[0], v[8].shape()), v[8], ops::Direction::lt));
        const Value opened = 1.0 / (1.0 - ops::select(used, s.alpha, ops::zeros_like(s.alpha)));
        const Value before = light * opened;
        const Value weight = ops::reduce_sum(s.features * image, {2});
        const Value slope = before * weight - behind * opened;
        const Value row = row_of(s, used, before, slope, image);
        ops::ScatterAttrs put{.update_window_dims = {1},
                              .inserted_window_dims = {0},
                              .scatter_dims_to_operand_dims = {0},
                              .index_vector_dim = 1};
        return {ops::sub(v[0], ops::scalar(*v[0].builder, DType::i32, 1)), ops::select(used, before, light),
                ops::select(used, behind + s.alpha * before * weight, behind), ops::scatter(v[3], s.entry, row, put)};
      });
  const Value sums =
      ops::index_add(ops::full(b, real, {c * n, f + 8}, 0), in[ids_at], ops::slice_axis(out[3], 0, 0, k));
  const auto part = [&](Dim from, Dim to, Shape shape) {
    return ops::reshape(ops::slice_axis(sums, 1, from, to), std::move(shape));
  };
  return {part(0, 2, {c, n, 2}), part(2, 5, {c, n, 3}), part(5, 6, {c, n}), part(6, f + 6, {c, n, f}),
          part(f + 6, f + 8, {c, n, 2})};
}

extern const OpDef<A> rasterize_gradient_op{
    .name = "splat.rasterize_gradient",
    .doc =
        "Gradients of splat.rasterize to means, conics, opacities and features, blended back to front. Last come the "
        "sums over "
        "pixels of the magnitudes of that to means. Takes its operands, what it gave as transmittance and used, and "
        "the "
        "cotangents of its image and of its transmittance (through).",
    .operands = gradient_operands,
    .constraints = gradient_constraints,
    .infer = gradient_infer,
    .meaning = Composite<A>{gradient_decompose},
    .vjp = Never{"second derivatives of images are not offered"},
    .jvp = Never{"second derivatives of images are not offered"},
    .batch = Derived{},
    .shard = Never{"lists are cut by tiles, whose lengths no dimension states"},
    .cost =
        [](const A& a, const Signature& s) {
          const Dim pairs = s.shape(ids_at)[0] * (a.tile * a.tile);
          return cost_of(s, gradient_infer(a, s), pairs * (s.shape(features_at)[2] * 4 + 45));
        },
    .samples = []() -> std::vector<Sample<A>> {
      const A small{.width = 7, .height = 5, .tile = 4};
      // Values as rasterize would give them are no matter here: any will do that are in range.
      const auto scene = [](DType t, std::int64_t f) {
        std::vector<SampleOperand> in = raster_sample(t, f);
        in.insert(in.end(), {{tensor(t, {2, 5, 7}), Fill::uniform, 0.1, 0.9},
                             {i32({2, 5, 7}), Fill::uniform, 0, 3},
                             tensor(t, {2, 5, 7, f}),
                             tensor(t, {2, 5, 7})});
        return in;
      };
      // One pixel at the centre of two Gaussians of opacity 1/2: image 0.5 f0 + 0.25 f1 + 0.25 * 4, cotangent 1. Of the
      // opacities: f0 - (f1 + 4) / 2 and (f1 - 4) / 2.
      const std::vector<SampleOperand> pixel{{f64({1, 2, 2}), {0.5, 0.5, 0.5, 0.5}},
                                             {f64({1, 2, 3}), {1, 0, 1, 1, 0, 1}},
                                             {f64({1, 2}), {0.5, 0.5}},
                                             {f64({1, 2, 1}), {1, 2}},
                                             {f64({1, 1}), {4}},
                                             {i32({2}), {0, 1}},
                                             {i32({2}), {0, 2}},
                                             {f64({1, 1, 1}), {0.25}},
                                             {i32({1, 1, 1}), {2}},
                                             {f64({1, 1, 1, 1}), {1}},
                                             {f64({1, 1, 1}), {0}}};
      const A one{.width = 1, .height = 1, .tile = 1};
      const auto broken = [&](std::size_t at, SampleOperand with, std::string_view id) {
        auto in = scene(DType::f64, 2);
        in[at] = std::move(with);
        return sample<A>(std::move(in), small).breaking(id);
      };
      return {sample<A>(scene(DType::f64, 2), small).within(1e-12),
              sample<A>(scene(DType::f32, 3), small).within(1e-5),
              sample<A>(scene(DType::f32, 5), small).within(1e-5),
              sample<A>(pixel, one).expects({{0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {-2, -1}, {0.5, 0.25}, {0, 0, 0, 0}}),
              sample<A>({f64({1, 0, 2}),
                         f64({1, 0, 3}),
                         f64({1, 0}),
                         f64({1, 0, 1}),
                         f64({1, 1}),
                         i32({0}),
                         {i32({2}), {0, 0}},
                         f64({1, 1, 1}),
                         {i32({1, 1, 1}), {0}},
                         f64({1, 1, 1, 1}),
                         f64({1, 1, 1})},
                        one),
              broken(conics_at, f32({2, 3, 3}), "C1"),
              sample<A>(pixel, {.width = 0}).breaking("C2"),
              broken(means_at, f64({2, 3, 3}), "C3"),
              broken(opacities_at, f64({2, 4}), "C4"),
              broken(backgrounds_at, f64({2, 3}), "C5"),
              broken(offsets_at, i32({8}), "C6"),
              broken(used_at, i32({2, 7, 5}), "C7"),
              broken(through_at, f32({2, 5, 7}), "C7")};
    },
    .traits = Trait::padded};

}  // namespace rlx::splat
