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

/// The largest absolute value; infinite where one is infinite or NaN. Bits of absolute values are ordered as integers
/// are, with infinity and NaN at the end.
template <class T>
double max_norm(std::span<const T> x) {
  std::uint64_t largest = 0;
  for (const T& v : x) largest = std::max(largest, std::bit_cast<std::uint64_t>(std::abs(v)));
  const double norm = std::bit_cast<double>(largest);
  return is_finite(norm) ? norm : std::numeric_limits<double>::infinity();
}

/// The largest sum of absolute values in a row.
template <class T, class Index>
double norm_infinity(const CscMatrix<T, Index>& a) {
  std::vector<double> sums(a.rows);
  for (std::size_t k = 0; k < a.row.size(); ++k) sums[a.row[k]] += std::abs(a.value[k]);
  return max_norm<double>(sums);
}

}  // namespace rlx::linalg
