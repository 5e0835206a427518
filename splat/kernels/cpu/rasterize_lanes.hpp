// The body of the rasterizer for one instruction level; RLX_RASTER_KERNELS names what it defines, RLX_LANES is the
// width.
//
// Gaussians are walked in the order of the tile's list; each touches the vectors of pixels that the box around its
// ellipse of alpha 1/255 meets.
#include "rasterize_chunk.hpp"

namespace rlx::splat::cpu {
namespace {

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
