#include <rlx/splat/build.hpp>

namespace rlx::splat {

Value quat_scale_to_cov(Value quats, Value scales) {
  return quats.builder->emit1("splat.quat_scale_to_cov", {quats, scales}, CovarianceAttrs{});
}
Covariances quat_scale_to_cov_and_precision(Value quats, Value scales) {
  const Values r = quats.builder->emit("splat.quat_scale_to_cov", {quats, scales}, CovarianceAttrs{.precisions = true});
  return {r[0], r[1]};
}
Projected project(Value means, Value covars, Value views, Value intrinsics, const ProjectAttrs& attrs) {
  const Values r = means.builder->emit("splat.project", {means, covars, views, intrinsics}, attrs);
  return {r[0], r[1], r[2], r[3], r[4]};
}
Value sh_color(Value directions, Value coefficients, int degree) {
  return directions.builder->emit1("splat.sh_color", {directions, coefficients}, ShColorAttrs{degree});
}
Value ssim(Value x, Value y, SsimAttrs attrs) { return x.builder->emit1("splat.ssim", {x, y}, attrs); }
Value knn(Value points, std::int64_t k) { return points.builder->emit1("splat.knn", {points}, KnnAttrs{k}); }
Value tile_boxes(Value means, Value conics, Value opacities, Value radii, const RasterizeAttrs& attrs) {
  return means.builder->emit1("splat.tile_boxes", {means, conics, opacities, radii}, attrs);
}
TileLists tile_bin(Value boxes, Value depths, const RasterizeAttrs& a, Dim entries, Dim bound) {
  const auto tiles = [&](std::int64_t pixels) { return (pixels + a.tile - 1) / a.tile; };
  const Values r =
      boxes.builder->emit("splat.tile_bin", {boxes, depths},
                          TileBinAttrs{tiles(a.width), tiles(a.height), std::move(entries), std::move(bound)});
  return {r[0], r[1]};
}
Rasterized rasterize(Value means, Value conics, Value opacities, Value features, Value backgrounds, Value ids,
                     Value offsets, const RasterizeAttrs& attrs, Value probe) {
  Values operands{means, conics, opacities, features, backgrounds, ids, offsets};
  if (probe) operands.push_back(probe);
  const Values r = means.builder->emit("splat.rasterize", operands, attrs);
  return {r[0], r[1], r[2]};
}

}  // namespace rlx::splat
