#include "linalg/device_kernels.hpp"

namespace rlx::linalg {

Plugin direct_solvers() {
  for (const DeviceKernels* k : device_kernels())
    if (k->direct_solvers) return k->direct_solvers();
  return {"sparse direct solvers", false, "", "", {"a device that has them: none is part of this build"}};
}

}  // namespace rlx::linalg
