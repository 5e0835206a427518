// Systems whose inverse has a closed form.
#pragma once
#include <rlx/linalg/linalg.hpp>

#include <cmath>
#include <complex>
#include <functional>

#include "shared_matrices.hpp"

namespace rlx::linalg::testing {

using c128 = std::complex<double>;

struct System {
  HostSparse a;
  bool definite = false;  // Also for Cholesky.
  std::function<c128(std::int64_t, std::int64_t)> inverse;
};
inline constexpr std::int64_t order = 6;

/// Second differences; an entry of the inverse is min(i, j) (n + 1 - max(i, j)) / (n + 1), counted from 1.
inline System string_of_masses() {
  std::vector<double> dense(order * order);
  for (std::int64_t i = 0; i < order; ++i)
    for (std::int64_t j = 0; j < order; ++j) dense[i * order + j] = i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0;
  return {to_host(from_dense(order, order, dense).view()), true, [](std::int64_t i, std::int64_t j) {
            return c128(static_cast<double>((std::min(i, j) + 1) * (order - std::max(i, j))) / (order + 1));
          }};
}

/// 1 on the diagonal, -q below it: the inverse has q^(i - j) from the diagonal downwards.
template <class T>
System geometric(T q) {
  std::vector<T> dense(order * order);
  for (std::int64_t i = 0; i < order; ++i) {
    dense[i * order + i] = 1;
    if (i > 0) dense[i * order + i - 1] = -q;
  }
  return {to_host(from_dense(order, order, dense).view()), false,
          [q](std::int64_t i, std::int64_t j) { return i < j ? c128(0) : std::pow(c128(q), static_cast<int>(i - j)); }};
}

}  // namespace rlx::linalg::testing
