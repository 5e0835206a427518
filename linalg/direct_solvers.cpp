#include <rlx/linalg/linalg.hpp>

#include "linalg/kernels/cpu/suitesparse_loader.hpp"

namespace rlx::linalg {

Plugin direct_solvers() {
  const SuitesparseStatus& s = suitesparse_status();
  return {"librlx_suitesparse", s.table != nullptr, s.path, s.versions, s.looked_for};
}

}  // namespace rlx::linalg
