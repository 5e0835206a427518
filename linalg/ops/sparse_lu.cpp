#include "linalg/ops/sparse_direct.hpp"

namespace rlx::linalg {

extern const OpDef<SparseLuAttrs> sparse_lu_op{factor_def<SparseLu>(
    "LU factorization of a sparse matrix, equilibrated and pivoted; a resource for linalg.sparse_lu_solve. Raises "
    "NumericalError for a singular matrix. Sources: UMFPACK (T. Davis, ACM TOMS 30, 2004), KLU (T. Davis and E. "
    "Palamadai Natarajan, ACM TOMS 37, 2010).")};

}  // namespace rlx::linalg
