// The body of ssim for one instruction level; RLX_SSIM_KERNELS names what it defines, RLX_LANES is the width.
//
// The window is separable. Rows come from above: each goes through it along the row once, into a ring of as many rows
// as the window has, and what the ring holds goes through it down the columns.
#include <cstddef>

#include "lanes.hpp"
#include "ssim_window.hpp"

namespace rlx::splat::cpu {
namespace {

inline std::int64_t whole_vectors(std::int64_t n) { return (n + lanes - 1) / lanes * lanes; }
inline void store_some(float* p, Floats v, std::int64_t count) {
  if (count >= lanes) store(p, v);
  else __builtin_memcpy(p, &v, static_cast<std::size_t>(count) * sizeof(float));
}
inline Floats load_some(const float* p, std::int64_t count) {
  if (count >= lanes) return load(p);
  Floats v{};
  __builtin_memcpy(&v, p, static_cast<std::size_t>(count) * sizeof(float));
  return v;
}

/// Rows of so many floats, pixels of `step` floats, with zeros (pixels, rows) on each side.
struct Sweep {
  std::int64_t height, floats, step, zeros;
  std::int64_t out_floats() const { return floats + (2 * zeros - (window_size - 1)) * step; }
  /// A row with its zeros, and what a vector reads beyond it.
  std::int64_t line() const { return whole_vectors(floats + 2 * zeros * step) + 2 * lanes; }
  std::int64_t scratch(std::int64_t fields) const {
    return fields * (line() + window_size * whole_vectors(out_floats()));
  }
};

/// Of n fields, the rows begin .. end of what the window gives. source(row, to) puts a row's fields to + k * line;
/// sink(row, i, fields) gets one vector of each.
template <int n, class Source, class Sink>
void sweep(const Sweep& s, const float* weights, std::int64_t begin, std::int64_t end, float* scratch, Source source,
           Sink sink) {
  const std::int64_t line = s.line(), wide = whole_vectors(s.out_floats()), row_size = n * wide;
  float *const lines = scratch, *const ring = scratch + n * line;
  for (std::int64_t i = 0; i < n * line; ++i) lines[i] = 0;
  Floats w[window_size];
  for (int t = 0; t < window_size; ++t) w[t] = all(weights[t]);
  const auto slot = [&](std::int64_t row) { return ring + (row + window_size) % window_size * row_size; };
  std::int64_t next = begin - s.zeros;
  for (std::int64_t o = begin; o < end; ++o) {
    for (; next < o - s.zeros + window_size; ++next) {
      float* row = slot(next);
      if (next < 0 || next >= s.height) {
        for (std::int64_t i = 0; i < row_size; i += lanes) store(row + i, Floats{});
        continue;
      }
      source(next, lines + s.zeros * s.step);
      for (int k = 0; k < n; ++k)
        for (std::int64_t i = 0; i < wide; i += lanes) {
          Floats sum{};
          for (int t = 0; t < window_size; ++t) sum = fma(w[t], load(lines + k * line + i + t * s.step), sum);
          store(row + k * wide + i, sum);
        }
    }
    const float* rows[window_size];
    for (int t = 0; t < window_size; ++t) rows[t] = slot(o - s.zeros + t);
    for (std::int64_t i = 0; i < wide; i += lanes) {
      Floats m[n]{};
      for (int t = 0; t < window_size; ++t)
        for (int k = 0; k < n; ++k) m[k] = fma(w[t], load(rows[t] + k * wide + i), m[k]);
      sink(o, i, m);
    }
  }
}

inline Sweep moments_of(const SsimImages& s) { return {s.height, s.width * s.channels, s.channels, s.zeros}; }
inline Sweep fields_of(const SsimImages& s) { return {s.rows, s.row_floats, s.channels, window_size - 1 - s.zeros}; }

/// x, y, their squares and their product.
struct Moments {
  const SsimImages& s;
  std::int64_t line, floats;
  explicit Moments(const SsimImages& images)
      : s(images), line(moments_of(images).line()), floats(images.width * images.channels) {}
  void operator()(std::int64_t row, float* to) const {
    __builtin_memcpy(to, s.x + row * floats, static_cast<std::size_t>(floats) * sizeof(float));
    __builtin_memcpy(to + line, s.y + row * floats, static_cast<std::size_t>(floats) * sizeof(float));
    for (std::int64_t i = 0; i < floats; i += lanes) {  // Beyond the row both are 0.
      const Floats x = load(to + i), y = load(to + line + i);
      store(to + 2 * line + i, x * x);
      store(to + 3 * line + i, y * y);
      store(to + 4 * line + i, x * y);
    }
  }
};

/// Similarity is a1 a2 / (b1 b2).
struct Point {
  Floats a1, a2, b1, b2;
  Point(const SsimImages& s, const Floats* m) {
    const Floats mxx = m[0] * m[0], myy = m[1] * m[1], mxy = m[0] * m[1];
    a1 = 2.0f * mxy + s.c1, a2 = 2.0f * (m[4] - mxy) + s.c2;
    b1 = mxx + myy + s.c1, b2 = (m[2] - mxx) + (m[3] - myy) + s.c2;
  }
};

void similarity(const SsimImages& s, std::int64_t begin, std::int64_t end, float* sums, void* scratch) {
  const std::int64_t floats = s.row_floats;
  Floats total{};
  sweep<5>(moments_of(s), s.weights, begin, end, static_cast<float*>(scratch), Moments(s),
           [&](std::int64_t row, std::int64_t i, const Floats* m) {
             const Point p(s, m);
             const Floats here = (p.a1 * p.a2) / (p.b1 * p.b2);
             total += keep(less(lane_numbers(), all(static_cast<float>(floats - i))), here);
             if (i + lanes < floats) return;
             sums[row] = sum(total);
             total = Floats{};
           });
}

void derivatives(const SsimImages& s, float share, std::int64_t begin, std::int64_t end, float* fields, void* scratch) {
  const std::int64_t floats = s.row_floats, plane = s.rows * floats;
  sweep<5>(moments_of(s), s.weights, begin, end, static_cast<float*>(scratch), Moments(s),
           [&](std::int64_t row, std::int64_t i, const Floats* m) {
             const Point p(s, m);
             const Floats one = 1.0f / p.b1, two = 1.0f / p.b2, each = share * one * two;
             const Floats similar = each * p.a1 * p.a2;
             float* to = fields + row * floats + i;
             store_some(to, 2.0f * each * p.a1, floats - i);
             store_some(to + plane, -similar * two, floats - i);
             store_some(to + 2 * plane, 2.0f * each * (p.a2 - p.a1) * m[1] + 2.0f * similar * (two - one) * m[0],
                        floats - i);
           });
}

void gradient(const SsimImages& s, const float* fields, std::int64_t begin, std::int64_t end, float* out,
              void* scratch) {
  const Sweep window = fields_of(s);
  const std::int64_t floats = s.width * s.channels, plane = window.height * window.floats, line = window.line();
  sweep<3>(
      window, s.weights, begin, end, static_cast<float*>(scratch),
      [&](std::int64_t row, float* to) {
        for (int k = 0; k < 3; ++k)
          __builtin_memcpy(to + k * line, fields + k * plane + row * window.floats,
                           static_cast<std::size_t>(window.floats) * sizeof(float));
      },
      [&](std::int64_t row, std::int64_t i, const Floats* m) {
        const std::int64_t at = row * floats + i, count = floats - i;
        const Floats x = load_some(s.x + at, count), y = load_some(s.y + at, count);
        store_some(out + at, fma(2.0f * x, m[1], fma(y, m[0], m[2])), count);
      });
}

std::int64_t scratch_bytes(const SsimImages& s) {
  const std::int64_t first = moments_of(s).scratch(5), second = fields_of(s).scratch(3);
  return (first < second ? second : first) * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

extern const SsimKernels RLX_SSIM_KERNELS{scratch_bytes, similarity, derivatives, gradient};

}  // namespace rlx::splat::cpu
