// The body of the rasterizer for one instruction level; RLX_RASTER_KERNELS names what it defines, RLX_LANES is the
// width.
//
// A tile's pixels are kept in scratch memory, row by row, each row padded to whole vectors. Gaussians are walked in the
// order of the list; each touches the vectors that the box around its ellipse of alpha 1/255 meets. What a chunk of
// the list needs is gathered and bounded first, a vector of Gaussians at a time.
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

/// Planes: transmittance, whose sign says whether the pixel has ended; positions used; channels.
template <int channels>
void draw(const Chunk& c, std::int64_t i, std::int64_t position, const RasterScene& s, const Tile& t, Planes p) {
  const std::int64_t f = channels ? channels : s.channels;
  const float* colour = s.features + c.id[i] * f;
  Floats colours[channels ? channels : 1];
  if constexpr (channels)
    for (int k = 0; k < channels; ++k) colours[k] = all(colour[k]);
  const Gaussian g(c, i);
  const Ints here = all(static_cast<std::int32_t>(position + 1));
  const std::int64_t first = c.left[i] / lanes * lanes, last = c.right[i], bottom = c.bottom[i];
  for (std::int64_t y = c.top[i]; y <= bottom; ++y) {
    const Row row(g, y);
    for (std::int64_t v = first; v <= last; v += lanes) {
      const std::int64_t at = y * t.stride + v;
      const Floats light = load(p[0] + at);
      Touch m;
      if (!any(less(Floats{}, light)) || !touch(g, row, v, m)) continue;
      const Floats left = light * (1.0f - m.alpha), ended = bits(bits(light) | INT32_MIN);
      const Mask used = both(m.counts, less(all(least_transmittance), left));
      store(p[0] + at, choose(used, left, choose(m.counts, ended, light)));
      const Floats weight = m.alpha * light;
      auto* positions = reinterpret_cast<std::int32_t*>(p[1]) + at;
      store(positions, choose(used, here, load(positions)));
      for (std::int64_t k = 0; k < f; ++k) {
        float* sum = p[2 + k] + at;
        const Floats before = load(sum), feature = channels ? colours[channels ? k : 0] : all(colour[k]);
        store(sum, choose(used, fma(weight, feature, before), before));
      }
    }
  }
}

inline bool all_ended(const Tile& t, const float* light) {
  for (std::int64_t i = 0; i < t.rows * t.stride; i += lanes)
    if (any(less(Floats{}, load(light + i)))) return false;
  return true;
}

template <int channels>
void forward_tile(const RasterScene& s, const RasterImages& out, std::int64_t tile, void* scratch) {
  const Tile t = tile_of(s, tile);
  const std::int64_t f = s.channels;
  const Planes p{static_cast<float*>(scratch), t.plane};
  for (std::int64_t k = 0; k < 2 + f; ++k)
    for (std::int64_t i = 0; i < t.plane; i += lanes) store(p[k] + i, Floats{});
  for (std::int64_t y = 0; y < t.rows; ++y)  // Beyond the image nothing is open.
    for (std::int64_t x = 0; x < t.columns; ++x) p[0][y * t.stride + x] = 1;
  Chunk c;
  for (std::int64_t at = t.begin; at < t.end; at += chunk) {
    if (at != t.begin && all_ended(t, p[0])) break;
    const std::int64_t count = clamped(t.end - at, 0, chunk);
    gather(c, s, t, at, count);
    for (std::int64_t i = 0; i < count; ++i) draw<channels>(c, i, at - t.begin + i, s, t, p);
  }
  const float* background = s.backgrounds + t.image * f;
  for (std::int64_t y = 0; y < t.rows; ++y) {
    const std::int64_t row = (t.image * s.height + t.first_y + y) * s.width + t.first_x, from = y * t.stride;
    for (std::int64_t x = 0; x < t.columns; ++x) {
      const float light = p[0][from + x] < 0 ? -p[0][from + x] : p[0][from + x];
      out.transmittance[row + x] = light;
      out.used[row + x] = reinterpret_cast<const std::int32_t*>(p[1])[from + x];
      for (std::int64_t k = 0; k < f; ++k) out.image[(row + x) * f + k] = p[2 + k][from + x] + light * background[k];
    }
  }
}

/// Planes: light after the Gaussian, what lies behind it weighted with the cotangents, positions used, cotangents of
/// the channels; then, for many channels, a vector of sums for each. Sums over pixels of -alpha dL/dalpha = dL/dsigma
/// times 1, dx, dy and their products give the gradients of mean and conic.
template <int channels>
void pull(const Chunk& c, std::int64_t i, std::int64_t position, const RasterScene& s, const Tile& t, Planes p,
          float* out) {
  const std::int64_t f = channels ? channels : s.channels;
  if (c.bottom[i] < c.top[i] || c.right[i] < c.left[i]) {
    for (std::int64_t j = 0; j < 8 + f; ++j) out[j] = 0;
    return;
  }
  const float* colour = s.features + c.id[i] * f;
  Floats colours[channels ? channels : 1], features[channels ? channels : 1]{};
  float* many = p[3 + f];
  for (std::int64_t k = 0; k < f; ++k) {
    if constexpr (channels) colours[k] = all(colour[k]);
    else store(many + k * lanes, Floats{});
  }
  const Gaussian g(c, i);
  const Ints here = all(static_cast<std::int32_t>(position));
  const Floats xx = all(c.xx[i]), yy = all(c.yy[i]);
  Floats by_x{}, by_y{}, by_xx{}, by_xy{}, by_yy{}, by_opacity{}, abs_x{}, abs_y{};
  const std::int64_t first = c.left[i] / lanes * lanes, last = c.right[i], bottom = c.bottom[i];
  for (std::int64_t y = c.top[i]; y <= bottom; ++y) {
    const Row row(g, y);
    const Floats across = yy * row.dy;
    Floats one{}, x{}, square{};  // Of the row.
    for (std::int64_t v = first; v <= last; v += lanes) {
      const std::int64_t at = y * t.stride + v;
      const Mask reached = less(here, load(reinterpret_cast<const std::int32_t*>(p[2]) + at));
      Touch m;
      if (!any(reached) || !touch(g, row, v, m)) continue;
      const Mask used = both(m.counts, reached);
      const Floats light = load(p[0] + at), behind = load(p[1] + at);
      const Floats opened = 1.0f / (1.0f - keep(used, m.alpha)), before = light * opened;
      const Floats weight = keep(used, m.alpha * before);
      Floats worth{};
      for (std::int64_t k = 0; k < f; ++k) {
        const Floats cotangent = load(p[3 + k] + at);
        if constexpr (channels) {
          worth = fma(colours[k], cotangent, worth);
          features[k] = fma(weight, cotangent, features[k]);
        } else {
          worth = fma(all(colour[k]), cotangent, worth);
          store(many + k * lanes, fma(weight, cotangent, load(many + k * lanes)));
        }
      }
      const Floats slope = before * worth - behind * opened;
      store(p[0] + at, choose(used, before, light));
      store(p[1] + at, choose(used, fma(weight, worth, behind), behind));
      const Mask passes = both(used, at_most(m.opaque, all(most_alpha)));
      const Floats by_sigma = keep(passes, -slope * m.opaque), by_x_here = by_sigma * m.dx;
      by_opacity = fma(keep(passes, slope), m.falloff, by_opacity);
      one += by_sigma;
      x += by_x_here;
      square = fma(by_x_here, m.dx, square);
      abs_x += magnitude(by_sigma * fma(xx, m.dx, row.linear));
      abs_y += magnitude(by_sigma * fma(g.xy, m.dx, across));
    }
    by_x += x;
    by_xx += square;
    by_y = fma(one, all(row.dy), by_y);
    by_xy = fma(x, all(row.dy), by_xy);
    by_yy = fma(one, all(row.dy * row.dy), by_yy);
  }
  const float sum_x = sum(by_x), sum_y = sum(by_y);
  const float head[6] = {c.xx[i] * sum_x + c.xy[i] * sum_y,
                         c.xy[i] * sum_x + c.yy[i] * sum_y,
                         0.5f * sum(by_xx),
                         sum(by_xy),
                         0.5f * sum(by_yy),
                         sum(by_opacity)};
  for (int k = 0; k < 6; ++k) out[k] = head[k];
  for (std::int64_t k = 0; k < f; ++k) {
    if constexpr (channels) out[6 + k] = sum(features[k]);
    else out[6 + k] = sum(load(many + k * lanes));
  }
  out[6 + f] = sum(abs_x);
  out[7 + f] = sum(abs_y);
}

/// The pixels behind the last Gaussian, as planes.
inline void load_pixels(const RasterScene& s, const RasterCotangents& in, const Tile& t, Planes p) {
  const std::int64_t f = s.channels;
  for (std::int64_t k = 0; k < 3 + f; ++k)
    for (std::int64_t i = 0; i < t.plane; i += lanes) store(p[k] + i, Floats{});
  const float* background = s.backgrounds + t.image * f;
  for (std::int64_t y = 0; y < t.rows; ++y) {
    const std::int64_t row = (t.image * s.height + t.first_y + y) * s.width + t.first_x, from = y * t.stride;
    for (std::int64_t x = 0; x < t.columns; ++x) {
      float worth = in.through[row + x];
      for (std::int64_t k = 0; k < f; ++k) {
        const float cotangent = in.image[(row + x) * f + k];
        p[3 + k][from + x] = cotangent;
        worth += cotangent * background[k];
      }
      p[0][from + x] = in.transmittance[row + x];
      p[1][from + x] = in.transmittance[row + x] * worth;
      reinterpret_cast<std::int32_t*>(p[2])[from + x] = in.used[row + x];
    }
  }
}

template <int channels>
std::int64_t backward_tile(const RasterScene& s, const RasterCotangents& in, const RasterRows& out, std::int64_t tile,
                           void* scratch) {
  const Tile t = tile_of(s, tile);
  const std::int64_t width = 8 + s.channels;
  const std::int64_t begin = clamped(out.begin, t.begin, t.end), stop = clamped(out.end, t.begin, t.end);
  const Planes p{static_cast<float*>(scratch), t.plane};
  if (stop == t.end) load_pixels(s, in, t, p);
  std::int64_t reached = 0;
  for (std::int64_t i = 0; i < t.plane; ++i) {
    const std::int64_t used = reinterpret_cast<const std::int32_t*>(p[2])[i];
    reached = used > reached ? used : reached;
  }
  const std::int64_t end = clamped(t.begin + reached, begin, stop);
  const auto row = [&](std::int64_t entry) { return out.rows + (entry - out.begin) * width; };
  Chunk c;
  for (std::int64_t at = begin + (end - begin - 1) / chunk * chunk; end > begin && at >= begin; at -= chunk) {
    const std::int64_t count = clamped(end - at, 0, chunk);
    gather(c, s, t, at, count);
    for (std::int64_t i = count; i-- > 0;) pull<channels>(c, i, at - t.begin + i, s, t, p, row(at + i));
  }
  return end;
}

std::int64_t scratch_bytes(std::int64_t side, std::int64_t channels) {
  return ((3 + channels) * stride_of(side) * side + channels * lanes) * static_cast<std::int64_t>(sizeof(float));
}

void forward(const RasterScene& s, const RasterImages& out, std::int64_t tile, void* scratch) {
  switch (s.channels) {
    case 3:
      return forward_tile<3>(s, out, tile, scratch);
    case 4:
      return forward_tile<4>(s, out, tile, scratch);
    case 5:
      return forward_tile<5>(s, out, tile, scratch);
    default:
      return forward_tile<0>(s, out, tile, scratch);
  }
}
std::int64_t backward(const RasterScene& s, const RasterCotangents& in, const RasterRows& out, std::int64_t tile,
                      void* scratch) {
  switch (s.channels) {
    case 3:
      return backward_tile<3>(s, in, out, tile, scratch);
    case 4:
      return backward_tile<4>(s, in, out, tile, scratch);
    case 5:
      return backward_tile<5>(s, in, out, tile, scratch);
    default:
      return backward_tile<0>(s, in, out, tile, scratch);
  }
}

}  // namespace

extern const RasterKernels RLX_RASTER_KERNELS{scratch_bytes, forward, backward};

}  // namespace rlx::splat::cpu
