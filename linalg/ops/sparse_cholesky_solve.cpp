#include "linalg/ops/sparse_direct.hpp"

namespace rlx::linalg {

extern const OpDef<SparseSolveAttrs> sparse_cholesky_solve_op{solve_def<SparseCholesky>(
    "x, like b, of op(A) x = b for one right side [n] or k of them, [n, k] or [k, n]; and for each its normwise "
    "backward "
    "error and relative residual in max norms (f64 [] or [k]). With a factorization of A by linalg.sparse_cholesky, "
    "refined on A with residuals in twice the working precision (J. Demmel et al., ACM TOMS 32, 2006), each right side "
    "until it is good. x differentiates with respect to A and b; the measures are constants to derivatives.")};

}  // namespace rlx::linalg
