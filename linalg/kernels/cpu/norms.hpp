// Max norms, row sums and what is made of them, in loops that need no reassociation of floating-point sums to be fast.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "linalg/csc_matrix.hpp"

namespace rlx::linalg {

/// The largest of absolute values; infinite where one is infinite or NaN. Their bits are ordered as integers are, with
/// infinity and NaN at the end.
class Largest {
 public:
  void add(double magnitude) { bits_ = std::max(bits_, std::bit_cast<std::uint64_t>(magnitude)); }
  double value() const {
    const double v = std::bit_cast<double>(bits_);
    return is_finite(v) ? v : std::numeric_limits<double>::infinity();
  }

 private:
  std::uint64_t bits_ = 0;
};

/// The largest absolute value; infinite where one is infinite or NaN.
template <class T>
double max_norm(std::span<const T> x) {
  Largest largest;
  for (const T& v : x) largest.add(std::abs(v));
  return largest.value();
}

/// The largest sum of absolute values in a row.
template <class T, class Index>
double norm_infinity(const CscMatrix<T, Index>& a) {
  std::vector<double> sums(a.rows);
  for (std::size_t k = 0; k < a.row.size(); ++k) sums[a.row[k]] += std::abs(a.value[k]);
  return max_norm<double>(sums);
}

/// |b - B x| / (|B| |x| + |b|) in max norms, where `norm` is |B|.
template <class T, class Index>
double backward_error(const CscMatrix<T, Index>& matrix, double norm, const std::vector<T>& x, std::vector<T> b) {
  const double scale = norm * max_norm<T>(x) + max_norm<T>(b);
  for (std::int64_t j = 0; j < matrix.cols; ++j)
    for (Index k = matrix.start[j]; k < matrix.start[j + 1]; ++k) b[matrix.row[k]] -= matrix.value[k] * x[j];
  return max_norm<T>(b) / scale;
}

}  // namespace rlx::linalg
