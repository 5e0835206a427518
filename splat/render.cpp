#include <rlx/ops/build.hpp>
#include <rlx/splat/render.hpp>

namespace rlx::splat {

/// Where cameras are, -R^T t: views [c, 4, 4] -> [c, 1, 3].
static Value centres(Value views) {
  const Dim c = views.shape()[0];
  const Value rotation = ops::slice(views, {0, 0, 0}, {c, 3, 3}), shift = ops::slice(views, {0, 0, 3}, {c, 3, 4});
  return ops::reshape(ops::neg(ops::reduce_sum(rotation * shift, {1})), {c, 1, 3});
}

/// Colours [c, n, 3], the directions of what is culled replaced: their gradients are 0 and not 0 times what may be NaN.
static Value colours(const Gaussians& g, Value views, Value radii, int degree) {
  const Value directions = ops::sub(g.means, centres(views));
  const Value radius = ops::slice_axis(radii, 2, 0, 1);
  const Value seen = ops::compare(radius, ops::zeros_like(radius), ops::Direction::gt);
  return sh_color(ops::select(seen, directions, ops::full_like(directions, 1)), g.sh, degree);
}

/// Boxes of those Gaussians whose entries are among the first `entries`, and how many entries all of them have.
static Values cut_to(Value boxes, const Dim& entries) {
  Builder& b = *boxes.builder;
  const Dim c = boxes.shape()[0], n = boxes.shape()[1];
  const auto side = [&](int k) { return ops::slice_axis(boxes, 2, k, k + 1); };
  const Value counts = ops::convert(ops::reshape(side(2) * side(3), {c * n}), DType::i64);
  const Value sums = ops::cumsum(counts, 0);
  const Value fits = ops::compare(sums, ops::broadcast_to(ops::dim_size(b, entries), sums.shape()), ops::Direction::le);
  return {ops::select(ops::broadcast_to(ops::reshape(fits, {c, n, 1}), boxes.shape()), boxes, ops::zeros_like(boxes)),
          ops::reduce_sum(counts, {0})};
}

Rendered render(const Gaussians& g, const Cameras& cameras, const RenderOptions& o, Value probe, Value shift) {
  Builder& b = *g.means.builder;
  const Dim c = cameras.views.shape()[0], n = g.means.shape()[0];
  const DType t = g.means.dtype();
  Projected p = project(g.means, quat_scale_to_cov(g.quats, g.scales), cameras.views, cameras.intrinsics, o.project);
  if (shift) p.means = p.means + shift;
  Value opacities = ops::broadcast_to(g.opacities, {c, n});
  if (o.mode == RenderMode::antialiased) opacities = opacities * p.compensations;
  Value features = colours(g, cameras.views, p.radii, o.degree);
  Value backgrounds = cameras.backgrounds ? cameras.backgrounds : ops::full(b, t, {c, 3}, 0);
  Values more;  // Channels, behind which nothing lies.
  if (o.channels != Channels::rgb) more.push_back(ops::reshape(p.depths, {c, n, 1}));
  // The sum of the weights: 1 - transmittance has lost digits where alpha is small.
  if (o.channels == Channels::expected_depth) more.push_back(ops::full(b, t, {c, n, 1}, 1));
  if (!more.empty()) {
    const Dim count = static_cast<std::int64_t>(more.size());
    more.insert(more.begin(), features);
    features = ops::concat(more, 2);
    backgrounds = ops::concat(Values{backgrounds, ops::full(b, t, {c, count}, 0)}, 1);
  }
  const RasterizeAttrs raster{.width = o.project.width, .height = o.project.height, .tile = o.tile};
  Value boxes = tile_boxes(p.means, p.conics, opacities, p.radii, raster), wanted;
  if (o.cut) {
    const Values all = cut_to(boxes, o.entries);
    boxes = all[0], wanted = all[1];
  }
  const TileLists lists = tile_bin(boxes, p.depths, raster, o.entries, o.bound);
  const Rasterized r =
      rasterize(p.means, p.conics, opacities, features, backgrounds, lists.ids, lists.offsets, raster, probe);
  Rendered out{r.image, 1.0 - r.transmittance, p, r, wanted};
  if (o.channels == Channels::expected_depth) {
    const Value sum = ops::slice_axis(r.image, 3, 3, 4), weight = ops::slice_axis(r.image, 3, 4, 5);
    out.image = ops::concat(
        Values{ops::slice_axis(r.image, 3, 0, 3), sum / ops::max(weight, ops::full_like(weight, 1e-10))}, 3);
  }
  return out;
}

Images render_images(const Gaussians& g, const Cameras& cameras, const RenderAttrs& attrs) {
  Builder& b = *g.means.builder;
  const Value black =
      cameras.backgrounds ? cameras.backgrounds : ops::full(b, g.means.dtype(), {cameras.views.shape()[0], 3}, 0);
  const Values r = b.emit(
      "splat.render", {g.means, g.quats, g.scales, g.opacities, g.sh, cameras.views, cameras.intrinsics, black}, attrs);
  return {r[0], r[1]};
}

}  // namespace rlx::splat
