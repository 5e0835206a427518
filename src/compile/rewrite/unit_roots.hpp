// Roots of unity for the rules of fft, and the length from which these leave dense products.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>

namespace rlx::compile {

/// exp(2 pi i k / n), 0 <= k < n < 2^61, each part to within 2.5 units of its last place: the turn is taken apart in
/// integers, so that sine and cosine see an angle below an eighth of it, rounded once.
inline std::complex<double> unit_root(std::int64_t k, std::int64_t n) {
  const std::int64_t quarter = 4 * k / n, rest = 4 * k - quarter * n;  // of n, which is a quarter turn
  const bool beyond = 2 * rest > n;
  const double angle = std::numbers::pi / 2 * (static_cast<double>(beyond ? n - rest : rest) / static_cast<double>(n));
  double c = std::cos(angle), s = std::sin(angle);
  if (beyond) std::swap(c, s);
  switch (quarter) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

/// A prime factor up to this one is a product with a dense matrix of that many rows; one above it is a convolution,
/// where two transforms of at most 8/3 of the length (up to 4096 points, three factors of 16 each, and the twiddle
/// factors) take about as many multiplications.
inline constexpr std::int64_t largest_dense_factor = 256;

}  // namespace rlx::compile
