#include "linalg/ops/sparse_direct.hpp"

namespace rlx::linalg {

extern const OpDef<NoAttributes> sparse_cholesky_op{factor_def<SparseCholesky>(
    "Cholesky factorization of a sparse Hermitian positive definite matrix, both triangles of which are stored; a "
    "resource for linalg.sparse_cholesky_solve. Raises NumericalError where the matrix is not positive definite, so "
    "also "
    "where it is not Hermitian up to rounding, 1e-12 sqrt(|a_ii| |a_jj|) at a_ij, as one triangle alone. Source: "
    "CHOLMOD "
    "(Y. Chen, T. Davis, W. Hager and S. Rajamanickam, ACM TOMS 35, 2008).")};

}  // namespace rlx::linalg
