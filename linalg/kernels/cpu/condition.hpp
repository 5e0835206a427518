// The 1-norm of an inverse: estimated from a few solves with the matrix and its conjugate transpose, or bounded by one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <rlx/linalg/csr_view.hpp>

namespace rlx::linalg {

/// A lower bound of |A^-1|_1, nearly always within a factor 3. W. Hager, SIAM J. Sci. Stat. Comput. 5 (1984), with N.
/// Higham's safeguards, ACM TOMS 14 (1988), Algorithm 674; the same method as LAPACK's xLACN2. At most 5 + 5 + 1
/// solves. `solve(x)` and `solve_adjoint(x)` overwrite x with A^-1 x and A^-H x. Infinite where a solution is not
/// finite. At an estimate of at most `harmless` it ends after one round, three solves: what more rounds add, mostly
/// less than a factor of three, would decide nothing.
template <class T, class Solve, class SolveAdjoint>
double inverse_norm_1(std::int64_t n, Solve&& solve, SolveAdjoint&& solve_adjoint, double harmless = 0) {
  constexpr int max_rounds = 5;
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  if (n == 0) return 0;
  const auto norm = [](const std::vector<T>& x) {
    double sum = 0;
    for (const T& v : x) sum += std::abs(v);
    return is_finite(sum) ? sum : infinite;
  };
  const auto largest = [](const std::vector<T>& x) {
    const auto less = [](const T& a, const T& b) { return std::abs(a) < std::abs(b); };
    return static_cast<std::int64_t>(std::max_element(x.begin(), x.end(), less) - x.begin());
  };
  std::vector<T> x(n, T(1.0 / static_cast<double>(n))), signs(n), previous(n);
  solve(x);
  double estimate = norm(x);
  if (n == 1 || estimate == infinite) return estimate;
  std::int64_t unit = -1;
  for (int round = 1; round < max_rounds; ++round) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double size = std::abs(x[i]);
      signs[i] = size > 0 ? x[i] / size : T(1);
      if (!is_finite(signs[i])) signs[i] = T(1);  // x[i] too small to be divided by its size
    }
    if (round > 1 && signs == previous) break;  // the maximum of a convex function was reached
    previous = signs;
    x = signs;
    solve_adjoint(x);
    if (norm(x) == infinite) return infinite;
    const std::int64_t next = largest(x);
    if (unit >= 0 && std::abs(x[unit]) == std::abs(x[next])) break;
    unit = next;
    std::fill(x.begin(), x.end(), T(0));
    x[unit] = T(1);
    solve(x);
    const double now = norm(x);
    if (now == infinite) return infinite;
    if (std::max(now, estimate) <= harmless) return std::max(now, estimate);
    if (now <= estimate) break;
    estimate = now;
  }
  // Higham's alternating vector, against matrices built to defeat the iteration.
  for (std::int64_t i = 0; i < n; ++i) {
    const double size = 1 + static_cast<double>(i) / static_cast<double>(n - 1);
    x[i] = T(i % 2 ? -size : size);
  }
  solve(x);
  return std::max(estimate, 2 * norm(x) / (3 * static_cast<double>(n)));
}

/// Entries uniform in (-1, 1), always the same, by SplitMix64 (G. Steele, D. Lea and C. Flood, OOPSLA 2014); `skip` is
/// where in its sequence they begin.
template <class T>
void fill_random(std::vector<T>& x, std::size_t skip = 0) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::uint64_t z = (skip + i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    x[i] = static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63;
  }
}

/// A bound of |A^-1|_1 from z, the largest entry of A^-H x for one random x, or for four. An entry is the product of an
/// x with a column of A^-1, and for the column of the largest 2-norm, s, it falls below d s with a probability of at
/// most sqrt(2) d (2 d for complex ones): the density of the product of a unit vector with x is nowhere above 1 /
/// sqrt(2) (K. Ball, "Cube slicing in R^n", Proc. AMS 97, 1986). The 1-norm of a column is at most sqrt(n) times its
/// 2-norm. So with d = 1/1000 the bound is wrong with a probability of at most 0.0014 (0.002), and for the largest of
/// four with d = 1/8 of 0.001 (0.004); that |A^-1|_1 is k times the bound has k times, for four k^4 times less.
inline double inverse_norm_1_by_one(std::int64_t n, double z) { return 1000 * std::sqrt(static_cast<double>(n)) * z; }
inline double inverse_norm_1_by_four(std::int64_t n, double z) { return 8 * std::sqrt(static_cast<double>(n)) * z; }

}  // namespace rlx::linalg
