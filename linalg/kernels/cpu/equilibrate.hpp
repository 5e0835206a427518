// Row and column scaling by powers of two, so that scaling rounds nothing.
#pragma once
#include <vector>

#include "linalg/csc_matrix.hpp"

namespace rlx::linalg {

/// Factors of rows and columns, all powers of two: the scaled matrix is diag(row) A diag(col).
struct Scaling {
  std::vector<double> row, col;
};

/// Every row and column gets a largest entry near 1 (between about 1/8 and 8).
/// Iterated in the infinity norm after D. Ruiz, "A scaling algorithm to equilibrate both rows and columns norms in
/// matrices", RAL-TR-2001-034; here on base-2 logarithms, where a product is a sum and nothing overflows.
/// Keeps symmetry: where A is symmetric, row and col are equal. Needs a matrix without empty rows and columns. The
/// factors of another matrix, in `start`, are kept where they do for this one.
template <class T, class Index>
Scaling equilibrate(const CscMatrix<T, Index>& a, const Scaling* start = nullptr);

/// For one triangle of a Hermitian matrix: diag(d) A diag(d) with a diagonal near 1, within a factor n the best such
/// scaling for a positive definite A (A. van der Sluis, Numer. Math. 14, 1969). Where the diagonal is not positive (the
/// factorization will refuse), the row's largest entry takes its place.
template <class T>
std::vector<double> equilibrate_hermitian(const CscMatrix<T>& triangle);

/// Replaces each a_ij by row_i a_ij col_j.
template <class T, class Index>
void apply_scaling(const Scaling& scaling, CscMatrix<T, Index>& a);

}  // namespace rlx::linalg
