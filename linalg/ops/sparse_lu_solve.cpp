#include "linalg/ops/sparse_direct.hpp"

namespace rlx::linalg {

extern const OpDef<SparseSolveAttrs> sparse_lu_solve_op{
    solve_def<SparseLu>("x of op(A) x = b, its normwise backward error and relative residual in max norms (f64), with "
                        "a factorization of A by linalg.sparse_lu, refined on A with residuals in twice the working "
                        "precision (J. Demmel et al., ACM TOMS 32, 2006). x differentiates with respect to A and b; "
                        "the measures are constants to derivatives.")};

}  // namespace rlx::linalg
