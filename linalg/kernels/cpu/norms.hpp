// Max norms and row sums, in loops that need no reassociation of floating-point sums to be fast.
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

}  // namespace rlx::linalg
