#include "linalg/ops/sparse_direct.hpp"

namespace rlx::linalg {

extern const OpDef<NoAttributes> sparse_cholesky_update_op{update_def<SparseCholesky>(
    "The factorization of a by linalg.sparse_cholesky. The ordering of an earlier factorization serves where its "
    "matrix "
    "has the pattern of a, and storage that is free. Source: CHOLMOD (Y. Chen, T. Davis, W. Hager and S. Rajamanickam, "
    "ACM TOMS 35, 2008).")};

}  // namespace rlx::linalg
