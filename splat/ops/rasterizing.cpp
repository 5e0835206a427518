#include "splat/ops/rasterizing.hpp"

namespace rlx::splat {

using A = RasterizeAttrs;

Answer rasterize_dtypes(const A&, const Signature& s) { return one_dtype(s, means_at, backgrounds_at); }
Answer rasterize_sizes(const A& a, const Signature&) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  return a.width >= 1 && a.width <= most && a.height >= 1 && a.height <= most && a.tile >= 1 && a.tile <= 64;
}
Answer rasterize_means(const A&, const Signature& s) {
  if (s.rank(means_at) != 3) return Answer::no("rank " + std::to_string(s.rank(means_at)));
  return s.equal(s.shape(means_at)[2], 2);
}
Answer rasterize_gaussians(const A&, const Signature& s) {
  const Dim c = s.shape(means_at)[0], n = s.shape(means_at)[1];
  return has_shape(s, conics_at, {c, n, 3}) && has_shape(s, opacities_at, {c, n});
}
Answer rasterize_features(const A&, const Signature& s) {
  const Dim c = s.shape(means_at)[0], n = s.shape(means_at)[1];
  if (s.rank(features_at) != 3) return Answer::no("rank " + std::to_string(s.rank(features_at)));
  const Dim f = s.shape(features_at)[2];
  return has_shape(s, features_at, {c, n, f}) && has_shape(s, backgrounds_at, {c, f});
}
Answer rasterize_lists(const A& a, const Signature& s) {
  if (s.rank(ids_at) != 1) return Answer::no("rank " + std::to_string(s.rank(ids_at)));
  return has_shape(s, offsets_at, {s.shape(means_at)[0] * TileGrid(a).tiles() + 1});
}

std::vector<SampleOperand> raster_sample(DType t, std::int64_t f) {
  std::vector<double> conics;
  for (int i = 0; i < 6; ++i) conics.insert(conics.end(), {0.03 + 0.004 * i, 0.01 - 0.003 * i, 0.05 - 0.003 * i});
  return {{tensor(t, {2, 3, 2}), Fill::uniform, 1, 5},
          {tensor(t, {2, 3, 3}), conics},
          {tensor(t, {2, 3}), Fill::uniform, 0.3, 0.9},
          tensor(t, {2, 3, f}),
          tensor(t, {2, f}),
          {i32({14}), {0, 1, 2, 2, 0, 1, 0, 1, 3, 4, 5, 3, 4, 5}},
          {i32({9}), {0, 3, 4, 6, 8, 11, 14, 14, 14}}};
}

TileGrid::TileGrid(const A& a)
    : width(a.width),
      height(a.height),
      side(a.tile),
      columns((a.width + a.tile - 1) / a.tile),
      rows((a.height + a.tile - 1) / a.tile) {}

Value TileGrid::to_tiles(Value image) const {
  const Shape trailing(image.shape().begin() + 3, image.shape().end());
  const Dim c = image.shape()[0];
  std::vector<std::int64_t> low(image.shape().size(), 0), high = low;
  high[1] = rows * side - height;
  high[2] = columns * side - width;
  const Value whole = ops::pad(image, ops::scalar(*image.builder, image.dtype(), 0), low, high);
  std::vector<int> order{0, 1, 3, 2, 4};
  for (int d = 5; d < image.rank() + 2; ++d) order.push_back(d);
  const Value cut = ops::transpose(ops::reshape(whole, with_last({c, rows, side, columns, side}, 0, trailing)), order);
  return ops::reshape(cut, with_last({c * tiles(), pixels()}, 0, trailing));
}

Value TileGrid::to_image(Value tiled) const {
  const Shape trailing(tiled.shape().begin() + 2, tiled.shape().end());
  const Dim c = floordiv(tiled.shape()[0], tiles());
  std::vector<int> order{0, 1, 3, 2, 4};
  for (int d = 5; d < tiled.rank() + 3; ++d) order.push_back(d);
  const Value joined =
      ops::transpose(ops::reshape(tiled, with_last({c, rows, columns, side, side}, 0, trailing)), order);
  const Value whole = ops::reshape(joined, with_last({c, rows * side, columns * side}, 0, trailing));
  return ops::slice_axis(ops::slice_axis(whole, 1, 0, height), 2, 0, width);
}

Lists::Lists(ValuesIn in) {
  Builder& b = *in[0].builder;
  const Dim tiles = in[offsets_at].shape()[0] - 1, f = in[features_at].shape()[2];
  const Dim gaussians = in[means_at].shape()[0] * in[means_at].shape()[1];
  starts = ops::slice_axis(in[offsets_at], 0, 0, tiles);
  ends = ops::slice_axis(in[offsets_at], 0, 1, tiles + 1);
  ids = ops::concat(Values{in[ids_at], ops::full(b, DType::i32, {1}, 0)}, 0);
  const Value known =
      ops::concat(Values{ops::reshape(in[means_at], {gaussians, 2}), ops::reshape(in[conics_at], {gaussians, 3}),
                         ops::reshape(in[opacities_at], {gaussians, 1}), ops::reshape(in[features_at], {gaussians, f})},
                  1);
  table = ops::concat(Values{known, ops::full(b, known.dtype(), {1, f + 6}, 0)}, 0);
}

Value Lists::longest() const { return ops::reduce_max(ops::sub(ends, starts), {0}); }

Splat splat_at(const TileGrid& grid, const Lists& lists, Value j) {
  Builder& b = *j.builder;
  const Dim t = lists.starts.shape()[0];
  const DType real = lists.table.dtype();
  const auto whole = [&](Value x) { return ops::full_like(x, 0); };
  const Value place = ops::add(lists.starts, j);
  const Value going = ops::compare(place, lists.ends, ops::Direction::lt);
  const Value end = ops::reshape(ops::slice_axis(lists.ends, 0, t - 1, t), {});
  Splat s;
  s.entry = ops::select(going, place, ops::broadcast_to(end, {t}));
  const Value row = ops::take(lists.table, ops::take(lists.ids, s.entry, 0), 0);
  const auto column = [&](int k) { return ops::slice_axis(row, 1, k, k + 1); };
  s.conic = {column(2), column(3), column(4)};
  s.opacity = column(5);
  s.features = with_axis(ops::slice_axis(row, 1, 6, row.shape()[1]), 1);

  // Pixel p of tile t, tiles counted through all images.
  const Shape all{t, grid.pixels()};
  const auto number = [&](std::int64_t v) { return ops::full(b, DType::i32, all, static_cast<double>(v)); };
  const Value tile = ops::rem(ops::iota(b, DType::i32, all, 0), number(grid.tiles())),
              p = ops::iota(b, DType::i32, all, 1);
  const auto centre = [&](Value of_tile, Value of_pixel) {
    return ops::convert(ops::add(ops::mul(of_tile, number(grid.side)), of_pixel), real) + 0.5;
  };
  s.dx = column(0) - centre(ops::rem(tile, number(grid.columns)), ops::rem(p, number(grid.side)));
  s.dy = column(1) - centre(ops::div(tile, number(grid.columns)), ops::div(p, number(grid.side)));
  const Value sigma = 0.5 * (s.conic[0] * s.dx * s.dx + s.conic[2] * s.dy * s.dy) + s.conic[1] * s.dx * s.dy;
  s.falloff = ops::exp(ops::neg(sigma));
  const Value opaque = s.opacity * s.falloff, most = ops::full_like(opaque, most_alpha);
  s.capped = ops::compare(opaque, most, ops::Direction::gt);
  s.alpha = ops::min(opaque, most);
  s.counts =
      ops::logical_and(ops::logical_and(with_axis(going, 1), ops::compare(sigma, whole(sigma), ops::Direction::ge)),
                       ops::compare(s.alpha, ops::full_like(s.alpha, least_alpha), ops::Direction::ge));
  return s;
}

}  // namespace rlx::splat
