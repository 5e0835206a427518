#include "linalg/ops/sparse_direct.hpp"

namespace rlx::linalg {

extern const OpDef<SparseSolveAttrs> sparse_lu_solve_op{solve_def<SparseLu>(
    "x of op(A) x = b with a factorization of A by linalg.sparse_lu, refined on A with residuals in twice the working "
    "precision (J. Demmel et al., ACM TOMS 32, 2006). Differentiates with respect to A and b.")};

}  // namespace rlx::linalg
