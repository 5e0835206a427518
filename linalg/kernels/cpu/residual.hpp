// Residuals of sparse systems in twice the working precision, for one right side and for several at once.
#pragma once
#include <rlx/linalg/csr_view.hpp>

#include <array>
#include <cstddef>
#include <span>

#include "refine.hpp"

namespace rlx::linalg {

/// Where a residual is formed of what.
template <class T>
struct Side {
  std::span<const T> x, b;
  std::span<T> r;
  double norm_x;
};
/// Residuals that are formed together: the matrix is read once for them, and the sums of a row, each of which waits for
/// its last addition, go on side by side. Each has the bits that it would have alone.
inline constexpr std::size_t sides_at_once = 4;

/// op(A) and one right side. A and b are the caller's. Throws ArgumentError where b or the number of unknowns does not
/// fit.
template <class T, class Index>
class System {
 public:
  System(const CsrView<T, Index>& a, Transpose mode, std::span<const T> b, std::size_t unknowns);
  /// r = b - op(A) x, each entry rounded once; returns how good x is.
  Refinement residual(std::span<const T> x, std::span<T> r) const;

  /// The same of several systems of one matrix: system, x, r and the answer of each.
  struct Request {
    const System* system;
    std::span<const T> x;
    std::span<T> r;
    Refinement answer{};
  };
  static void residuals(std::span<Request> all);

 private:
  Side<T> side_of(std::span<const T> x, std::span<T> r) const;
  template <std::size_t count>
  static std::array<Refinement, count> together(const std::array<const System*, count>& systems,
                                                const std::array<Side<T>, count>& sides);

  const CsrView<T, Index>& a_;
  Transpose mode_;
  std::span<const T> b_;
  double norm_b_ = 0;
};

}  // namespace rlx::linalg
