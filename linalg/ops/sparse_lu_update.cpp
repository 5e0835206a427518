#include "linalg/ops/sparse_direct.hpp"

namespace rlx::linalg {

extern const OpDef<SparseLuAttrs> sparse_lu_update_op{update_def<SparseLu>(
    "The factorization of a by linalg.sparse_lu. What an earlier factorization learnt serves where its matrix has the "
    "pattern of a: the ordering, the choice of the library, KLU's pivots as long as they are good, storage that is "
    "free. "
    "Source: KLU (T. Davis and E. Palamadai Natarajan, ACM TOMS 37, 2010).")};

}  // namespace rlx::linalg
