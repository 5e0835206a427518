// How the formats of Gaussians write numbers in few bits.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace rlx::formats {

/// The byte nearest to `x`, which counts in 255ths; NaN is 0.
inline std::uint8_t nearest_byte(double x) {
  return static_cast<std::uint8_t>(std::round(std::fmin(std::fmax(x, 0), 255)));
}

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Logits of opacities in 255ths. 0 and 1 have none that is finite: they are 1e-6 and 1 - 1e-6, which nothing drawn
/// tells from them, and which become the same byte again.
inline std::array<float, 256> opacity_byte_logits() {
  std::array<float, 256> logits{};
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double o = std::clamp(static_cast<double>(i) / 255, 1e-6, 1 - 1e-6);
    logits[i] = static_cast<float>(std::log(o / (1 - o)));
  }
  return logits;
}

}  // namespace rlx::formats
