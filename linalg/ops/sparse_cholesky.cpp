#include "linalg/ops/sparse_direct.hpp"

namespace rlx::linalg {

extern const OpDef<NoAttributes> sparse_cholesky_op{factor_def<SparseCholesky>(
    "Cholesky factorization of a sparse Hermitian positive definite matrix, whose lower triangle is read; a resource "
    "for linalg.sparse_cholesky_solve. Raises NumericalError where the matrix is not positive definite. Source: "
    "CHOLMOD "
    "(Y. Chen, T. Davis, W. Hager and S. Rajamanickam, ACM TOMS 35, 2008).")};

}  // namespace rlx::linalg
