// Dense factorizations by LAPACK on row-major arrays without gaps, for f32, f64, c64 and c128. Nothing is thrown on
// account of values: results carry LAPACK's info. ArgumentError where sizes do not fit or exceed LAPACK's 32-bit
// integers. The number of BLAS threads is the caller's business and stays as found.
#pragma once
#include <rlx/linalg/csr_view.hpp>

namespace rlx::linalg {

enum class Triangle { lower, upper };
enum class Side { left, right };

/// P A = L U with partial pivoting of an m x n matrix (xGETRF). `factors` gets L below the diagonal (its own diagonal
/// of ones is not stored) and U on and above; `pivots` gets min(m, n) numbers from 0: row i was exchanged with row
/// pivots[i], in order. Returns 0, or the 1-based index of the first zero on U's diagonal; then the factors are
/// complete, but U is singular. `factors` may be `a`. Memory: LAPACK wants columns, so the matrix is transposed into
/// `factors` and back; a square one in place, a rectangular one through one scratch array of m n elements.
template <class T>
std::int64_t lu(std::int64_t m, std::int64_t n, std::span<const T> a, std::span<T> factors,
                std::span<std::int32_t> pivots);

/// X of op(A) X = B for `count` right sides: b and x are n x count, row-major, and may be the same memory. No copy of
/// the factors (row-major BLAS). Returns 0, or the 1-based index of a zero on U's diagonal; then x is not touched.
template <class T>
std::int64_t lu_solve(std::int64_t n, std::int64_t count, std::span<const T> factors,
                      std::span<const std::int32_t> pivots, Transpose mode, std::span<const T> b, std::span<T> x);

/// The row order of P A: row i of P A is row rows[i] of A.
void pivots_to_rows(std::span<const std::int32_t> pivots, std::span<std::int64_t> rows);

/// A = L L^H of a Hermitian matrix by its lower triangle (xPOTRF); the upper triangle of `factor` gets zeros. No copy
/// beyond `factor`, which may be `a`: row-major lower is LAPACK's upper of the conjugate. Returns 0, or the order of
/// the first leading minor that is not positive; then `factor` holds no factorization.
template <class T>
std::int64_t cholesky(std::int64_t n, std::span<const T> a, std::span<T> factor);

/// X of op(A) X = B, where A = L L^H; shapes as in lu_solve.
template <class T>
void cholesky_solve(std::int64_t n, std::int64_t count, std::span<const T> factor, Transpose mode, std::span<const T> b,
                    std::span<T> x);

struct TriangularSolve {
  Side side = Side::left;  ///< left: op(A) X = B with B m x n, A m x m. right: X op(A) = B with A n x n.
  Triangle triangle = Triangle::lower;
  Transpose mode = Transpose::none;
  bool unit_diagonal = false;  ///< the diagonal counts as ones and is not looked at
};

/// xTRSM on row-major arrays; the other triangle of `a` is not looked at; x may be b. Returns 0, or the 1-based index
/// of a zero on the diagonal; then x is not touched.
template <class T>
std::int64_t triangular_solve(const TriangularSolve& what, std::int64_t m, std::int64_t n, std::span<const T> a,
                              std::span<const T> b, std::span<T> x);

}  // namespace rlx::linalg
