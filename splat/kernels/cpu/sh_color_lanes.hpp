// The body of sh_color for one instruction level; RLX_SH_KERNELS names what it defines, RLX_LANES is the width.
//
// The basis is computed for as many Gaussians as a vector has lanes. Its products with the coefficients, which lie one
// Gaussian after the other, go Gaussian by Gaussian: reading them is what takes the time.
#include "derivatives.hpp"
#include "sh_arrays.hpp"
#include "splat/ops/harmonics.hpp"

namespace rlx::splat::cpu {
namespace {

using PerLane = float[lanes];

/// Unit vectors along the directions of `count` Gaussians; a zero direction is z.
struct Units {
  Floats x, y, z, inverse;
  Mask zero;
  Units(const float* directions, std::int64_t count) {
    PerLane part[3]{};
    for (std::int64_t i = 0; i < count; ++i)
      for (int k = 0; k < 3; ++k) part[k][i] = directions[3 * i + k];
    x = load(part[0]), y = load(part[1]), z = load(part[2]);
    const Floats length2 = x * x + y * y + z * z;
    zero = at_most(length2, all(0.0f));
    inverse = 1.0f / root(choose(zero, all(1.0f), length2));
    x *= inverse, y *= inverse, z = choose(zero, all(1.0f), z * inverse);
  }
};

/// f(m) for each of so many channels: a constant number where there are three of them.
template <int known, class F>
inline void each_channel(std::int64_t channels, F f) {
  for (std::int64_t j = 0; j < (known ? known : channels); ++j) f(j);
}

template <int known>
void colours_of(const ShArrays& a, std::int64_t begin, std::int64_t end, float* colours) {
  const std::int64_t used = (a.degree + 1) * (a.degree + 1), row = a.stored * a.channels;
  for (std::int64_t first = begin; first < end; first += lanes) {
    const std::int64_t count = end - first < lanes ? end - first : lanes;
    for (std::int64_t view = 0; view < a.views; ++view) {
      const Units u(a.directions + 3 * (view * a.n + first), count);
      Real basis[most_harmonics];
      basis[0] = {all(a.constant)};
      spherical_harmonics(Real{u.x}, Real{u.y}, Real{u.z}, a.degree, basis);
      PerLane values[most_harmonics];
      for (std::int64_t k = 0; k < used; ++k) store(values[k], basis[k].v);
      for (std::int64_t i = 0; i < count; ++i) {
        const float* c = a.coefficients + (first + i) * row;
        float* to = colours + (view * a.n + first + i) * a.channels;
        each_channel<known>(a.channels, [&](std::int64_t j) {
          float sum = 0;
          for (std::int64_t k = 0; k < used; ++k) sum += values[k][i] * c[k * a.channels + j];
          sum += 0.5f;
          to[j] = sum <= 0 ? 0 : sum;  // NaN stays NaN.
        });
      }
    }
  }
}

/// Of one Gaussian in one view, where `basis` and `pull` have a row for each harmonic: what the cotangent becomes
/// before the maximum with 0, of which each side takes half where they are equal, times the basis, to the coefficients,
/// and times the coefficients, to the basis.
template <int known>
void pull_one(const ShArrays& a, std::int64_t used, const float* cotangent, const float* c, const float* basis,
              bool add, float* to, float* pull) {
  const std::int64_t channels = known ? known : a.channels;
  for (std::int64_t k = 0; k < used; ++k) pull[k * lanes] = 0;
  each_channel<known>(a.channels, [&](std::int64_t j) {
    float sum = 0;
    for (std::int64_t k = 0; k < used; ++k) sum += basis[k * lanes] * c[k * channels + j];
    sum += 0.5f;
    const float g = sum > 0 ? cotangent[j] : sum == 0 ? 0.5f * cotangent[j] : 0;
    for (std::int64_t k = 0; k < used; ++k) {
      const float share = basis[k * lanes] * g;
      to[k * channels + j] = add ? to[k * channels + j] + share : share;
      pull[k * lanes] += c[k * channels + j] * g;
    }
  });
}

template <int known>
void gradient_of(const ShArrays& a, const float* cotangent, std::int64_t begin, std::int64_t end, float* to_directions,
                 float* to_coefficients) {
  const std::int64_t used = (a.degree + 1) * (a.degree + 1), row = a.stored * a.channels;
  for (std::int64_t first = begin; first < end; first += lanes) {
    const std::int64_t count = end - first < lanes ? end - first : lanes;
    float* const rows = to_coefficients + first * row;
    for (std::int64_t view = 0; view < a.views; ++view) {
      const Units u(a.directions + 3 * (view * a.n + first), count);
      const Floats one = all(1.0f), none{};
      Dual basis[most_harmonics];
      basis[0] = {all(a.constant), none, none, none};
      spherical_harmonics(Dual{u.x, one, none, none}, Dual{u.y, none, one, none}, Dual{u.z, none, none, one}, a.degree,
                          basis);
      PerLane values[most_harmonics], pull[most_harmonics]{};
      for (std::int64_t k = 0; k < used; ++k) store(values[k], basis[k].v);
      for (std::int64_t i = 0; i < count; ++i) {
        const float* g = cotangent + (view * a.n + first + i) * a.channels;
        bool any = false;  // What is not seen has none, and its coefficients are not read.
        each_channel<known>(a.channels, [&](std::int64_t j) { any |= g[j] != 0; });
        if (any)
          pull_one<known>(a, used, g, a.coefficients + (first + i) * row, values[0] + i, view > 0, rows + i * row,
                          pull[0] + i);
        const std::int64_t clear = view > 0 ? row : any ? used * a.channels : 0;
        for (std::int64_t at = clear; at < row; ++at) rows[i * row + at] = 0;
      }
      Floats x{}, y{}, z{};
      for (std::int64_t k = 1; k < used; ++k) {
        const Floats p = load(pull[k]);
        x = fma(p, basis[k].x, x), y = fma(p, basis[k].y, y), z = fma(p, basis[k].z, z);
      }
      // What lies across the direction, over its length.
      const Floats along = x * u.x + y * u.y + z * u.z;
      const Floats across[3] = {x - along * u.x, y - along * u.y, z - along * u.z};
      PerLane part[3];
      for (int k = 0; k < 3; ++k) store(part[k], choose(u.zero, none, u.inverse * across[k]));
      float* to = to_directions + 3 * (view * a.n + first);
      for (std::int64_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k) to[3 * i + k] = part[k][i];
    }
    if (a.views == 0) __builtin_memset(rows, 0, static_cast<std::size_t>(count * row) * sizeof(float));
  }
}

void colours(const ShArrays& a, std::int64_t begin, std::int64_t end, float* to) {
  a.channels == 3 ? colours_of<3>(a, begin, end, to) : colours_of<0>(a, begin, end, to);
}
void gradient(const ShArrays& a, const float* cotangent, std::int64_t begin, std::int64_t end, float* to_directions,
              float* to_coefficients) {
  (a.channels == 3 ? gradient_of<3> : gradient_of<0>)(a, cotangent, begin, end, to_directions, to_coefficients);
}

}  // namespace

extern const ShKernels RLX_SH_KERNELS{colours, gradient};

}  // namespace rlx::splat::cpu
