// What both directions of the rasterizer walk over: the pixels of a tile, in scratch memory row by row, each row padded
// to whole vectors, and the Gaussians of its list, some at a time, gathered and bounded a vector of them at once.
#pragma once
#include "lanes.hpp"
#include "rasterize_tile.hpp"

namespace rlx::splat::cpu {
namespace {

constexpr float least_alpha = 1.0f / 255, most_alpha = 0.999f, least_transmittance = 1e-4f;
constexpr std::int64_t chunk = 64;

/// The Gaussians at some positions of the list.
struct Chunk {
  float x[chunk], y[chunk], xx[chunk], xy[chunk], yy[chunk],
      opacity[chunk];  // Relative to the centre of the tile's first pixel.
  float limit[chunk];  // Beyond this sigma alpha is below the least.
  std::int32_t left[chunk], right[chunk], top[chunk],
      bottom[chunk];  // Pixels of the tile, inclusive; empty: left > right or top > bottom.
  std::int32_t id[chunk];
};

/// Where a tile is, and how its pixels lie in scratch memory.
struct Tile {
  std::int64_t image, first_x, first_y, columns, rows;  // Pixels within the image.
  std::int64_t stride, plane;                           // Floats of a padded row, of all rows.
  std::int64_t begin, end;                              // Its list.
};

inline std::int64_t clamped(std::int64_t v, std::int64_t low, std::int64_t high) {
  return v < low ? low : v > high ? high : v;
}
inline std::int64_t stride_of(std::int64_t side) { return (side + lanes - 1) / lanes * lanes; }

inline Tile tile_of(const RasterScene& s, std::int64_t tile) {
  const std::int64_t per_image = s.columns * s.rows, at = tile % per_image;
  Tile t{};
  t.image = tile / per_image;
  t.first_x = at % s.columns * s.side;
  t.first_y = at / s.columns * s.side;
  t.columns = clamped(s.width - t.first_x, 0, s.side);
  t.rows = clamped(s.height - t.first_y, 0, s.side);
  t.stride = stride_of(s.side);
  t.plane = t.stride * s.side;
  t.begin = clamped(s.offsets[tile], 0, s.entries);
  t.end = clamped(s.offsets[tile + 1], t.begin, s.entries);
  return t;
}

/// The natural logarithm within 0.01, for bounds.
inline Floats rough_log(Floats x) {
  const Floats e = as_floats((bits(x) >> 23) - 127), m = bits((bits(x) & 0x7fffff) | 0x3f800000) - 1.0f;
  return 0.69314718f * (e + m * (1.3465f - 0.3465f * m));  // log2(1 + m) within 0.01.
}

// Bounds err on the large side; one that is no number bounds nothing.
inline void bound(Chunk& c, std::int64_t i, const Tile& t) {
  const Floats xx = load(c.xx + i), xy = load(c.xy + i), yy = load(c.yy + i), o = load(c.opacity + i);
  const Floats limit = rough_log(larger(o, all(1e-30f)) * 255.0f) + 0.02f, zero{};
  store(c.limit + i, limit);
  const Floats det = xx * yy - xy * xy;
  const auto range = [&](Floats centre, Floats variance, std::int64_t size, std::int32_t* low, std::int32_t* high) {
    const Floats half = root(larger(2.0f * limit * variance / det, zero)) * 1.001f + 0.01f;
    const Floats most = all(static_cast<float>(size)), huge = all(1e6f);
    const Mask known = both(both(less(half, huge), less(zero, det)), less(magnitude(centre), huge));
    const Floats from = choose(known, smaller(larger(centre - half, zero), most), zero);
    const Floats to = choose(known, smaller(larger(centre + half, all(-1.0f)), most - 1.0f), most - 1.0f);
    const Ints down = truncated(from);
    store(low, choose(less(as_floats(down), from), down + 1, down));
    store(high, truncated(to + 1.0f) - 1);
  };
  range(load(c.x + i), yy, t.columns, c.left + i, c.right + i);
  range(load(c.y + i), xx, t.rows, c.top + i, c.bottom + i);
  // Nothing of what is too faint, or has a number that is none, counts at any pixel.
  Mask drawn = at_most(zero, limit);
  const Floats numbers[] = {load(c.x + i), load(c.y + i), xx, xy, yy};
  for (const Floats& x : numbers) drawn = both(drawn, less(magnitude(x), all(__builtin_inff())));
  store(c.bottom + i, choose(drawn, load(c.bottom + i), all(std::int32_t{-1})));
}

inline void gather(Chunk& c, const RasterScene& s, const Tile& t, std::int64_t from, std::int64_t count) {
  const float corner_x = static_cast<float>(t.first_x) + 0.5f, corner_y = static_cast<float>(t.first_y) + 0.5f;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t id = clamped(s.ids[from + i], 0, s.gaussians - 1);
    c.id[i] = static_cast<std::int32_t>(id);
    c.x[i] = s.means[2 * id] - corner_x;
    c.y[i] = s.means[2 * id + 1] - corner_y;
    c.xx[i] = s.conics[3 * id];
    c.xy[i] = s.conics[3 * id + 1];
    c.yy[i] = s.conics[3 * id + 2];
    c.opacity[i] = s.ids[from + i] < s.gaussians ? s.opacities[id] : 0.0f;
  }
  for (std::int64_t i = count; i % lanes; ++i) c.x[i] = c.y[i] = c.xx[i] = c.xy[i] = c.yy[i] = c.opacity[i] = 0;
  for (std::int64_t i = 0; i < count; i += lanes) bound(c, i, t);
}

/// One Gaussian, in registers: stores to pixels could otherwise change it.
struct Gaussian {
  Floats x, half_xx, xy, opacity, limit;  // x less the number of the lane.
  float y, yy;
  Gaussian(const Chunk& c, std::int64_t i)
      : x(c.x[i] - lane_numbers()),
        half_xx(all(0.5f * c.xx[i])),
        xy(all(c.xy[i])),
        opacity(all(c.opacity[i])),
        limit(all(c.limit[i])),
        y(c.y[i]),
        yy(c.yy[i]) {}
};
/// The same in a row of pixels: sigma = dx (half_xx dx + linear) + constant.
struct Row {
  float dy;
  Floats linear, constant;
  Row(const Gaussian& g, std::int64_t at)
      : dy(g.y - static_cast<float>(at)), linear(g.xy * dy), constant(all(0.5f * g.yy * dy * dy)) {}
};
/// At one vector of pixels.
struct Touch {
  Floats dx, falloff, opaque, alpha;
  Mask counts;
};
/// False where it counts at no pixel, by sigma alone.
inline bool touch(const Gaussian& g, const Row& row, std::int64_t column, Touch& at) {
  at.dx = g.x - static_cast<float>(column);
  const Floats sigma = fma(at.dx, fma(g.half_xx, at.dx, row.linear), row.constant);
  const Mask near = both(at_most(Floats{}, sigma), at_most(sigma, g.limit));
  if (!any(near)) return false;
  at.falloff = exponential(-sigma);
  at.opaque = g.opacity * at.falloff;
  at.alpha = smaller(at.opaque, all(most_alpha));
  at.counts = both(near, at_most(all(least_alpha), at.opaque));
  return true;
}

/// Scratch memory of a tile: planes of t.plane floats.
struct Planes {
  float* base;
  std::int64_t plane;
  float* operator[](std::int64_t k) const { return base + k * plane; }
};

}  // namespace
}  // namespace rlx::splat::cpu
