// Iterative refinement of a sparse solution, with residuals in twice the working precision.
#pragma once
#include <rlx/linalg/csr_view.hpp>
#include "sparse_factor.hpp"

namespace rlx::linalg {

/// How good x is for A x = b (or A^T, A^H), in max norms; |A| is the largest row sum of the matrix that was applied.
struct Refinement {
  int iterations = 0;            ///< corrections that were kept
  double backward_error = 0;     ///< |b - A x| / (|A| |x| + |b|); infinite where x is not finite
  double relative_residual = 0;  ///< |b - A x| / |b|; 0 where both are 0
  /// max over rows of |b - A x|_i / (|A| |x| + |b|)_i: also right where the rows are of very different size. Rows whose
  /// denominator is only rounding noise take a safe one, after M. Arioli, J. Demmel and I. Duff, SIMAX 10 (1989).
  double componentwise_error = 0;
};

struct RefineOptions {
  int max_iterations = 10;
  /// Normwise backward error at which x is good enough (the rounding of x itself leaves about 1.1e-16), and
  /// componentwise: what a stable elimination leaves of a matrix whose rows are alike.
  double target = 1e-15, componentwise_target = 1e-14;
  /// Goes on until the corrections stop shrinking: then x is right nearly to its last digit, whatever the condition
  /// below 1e15 (J. Demmel et al., "Error bounds from extra-precise iterative refinement", ACM TOMS 32, 2006). A step
  /// or two more.
  bool forward = false;
};

/// Solves with `factor` and refines on `a`, which need not be equilibrated and must be the matrix that was factored.
/// Stops when both backward errors reach their targets, when a step halves neither, or after max_iterations; a step
/// that makes x worse is taken back. x and b must not overlap. The residual is the compensated dot product Dot2 of T.
/// Ogita, S. Rump and S. Oishi, SIAM J. Sci. Comput. 26 (2005), on exact products by fma.
template <class T, class Index>
Refinement solve_refined(const SparseFactor<T>& factor, const CsrView<T, Index>& a, Transpose mode,
                         std::span<const T> b, std::span<T> x, const RefineOptions& options = {});

/// As many right sides as `out` has entries, and their solutions, one after the other; each stops for its own reasons.
/// First solutions are asked of the factor for up to columns_at_once right sides together, and so are the corrections
/// of those that still need one. What a library gives for one of several may differ from what it gives for it alone, by
/// rounding.
template <class T, class Index>
void solve_refined(const SparseFactor<T>& factor, const CsrView<T, Index>& a, Transpose mode, std::span<const T> b,
                   std::span<T> x, std::span<Refinement> out, const RefineOptions& options = {});
inline constexpr std::size_t columns_at_once = 16;  ///< Bounds the workspace: about four vectors for each of them.

/// The same measure of a given x; iterations is 0.
template <class T, class Index>
Refinement measure(const CsrView<T, Index>& a, Transpose mode, std::span<const T> b, std::span<const T> x);

}  // namespace rlx::linalg
