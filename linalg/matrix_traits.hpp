// What a sparse matrix looks like, and which solver that speaks for.
#pragma once
#include <string>

#include <rlx/linalg/csr_view.hpp>
#include <rlx/linalg/method.hpp>

namespace rlx::linalg {

/// Facts about the entries after duplicates are summed and zeros dropped.
struct MatrixTraits {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  bool structurally_symmetric = false;
  bool symmetric = false;            ///< A = A^T, exactly
  bool hermitian = false;            ///< A = A^H, exactly; the same as symmetric for real entries
  bool skew = false;                 ///< A = -A^T, exactly
  bool positive_diagonal = false;    ///< every diagonal entry is real and above zero
  bool diagonally_dominant = false;  ///< |a_ii| >= sum of the other |a_ij| in every row, up to rounding
  bool m_matrix_signs = false;       ///< positive diagonal, and every other entry real and at most zero
  std::int64_t missing_diagonals = 0;
  std::int64_t lower_bandwidth = 0, upper_bandwidth = 0;
  std::int64_t least_row_nnz = 0, largest_row_nnz = 0;
  double mean_row_nnz = 0;
  /// log n / log(levels of a breadth-first search): about 1 for a chain, 2 for a plane mesh, 2.4 or more for a solid
  /// one. 0 where it was not computed: only symmetric matrices above `dimension_matters` rows are asked.
  double dimension = 0;
};

inline constexpr std::int64_t dimension_matters = 200000;  ///< rows; below it a factorization is cheap for any mesh

/// ArgumentError or NumericalError under the name `op` where the view is no matrix.
template <class T, class Index>
MatrixTraits matrix_traits(const std::string& op, const CsrView<T, Index>& a);

struct MethodChoice {
  SolveMethod method;  ///< never automatic
  std::string reason;  ///< begins with the method's name
};

/// Cholesky for Hermitian matrices with a positive diagonal (it may still refuse); conjugate gradients where such a
/// matrix is large, of a solid mesh (there the factors grow as n^(4/3) and their work as n^2) and certain to be
/// positive semidefinite by diagonal dominance; else LU. Only square matrices: others have no factorization here.
MethodChoice choose_method(const MatrixTraits& traits);

}  // namespace rlx::linalg
