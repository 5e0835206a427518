#include <rlx/linalg/register.hpp>

#include "linalg/device_kernels.hpp"

namespace rlx::linalg {

void add_to(runtime::Catalog& catalog) {
  register_ops(catalog.operators);
  for (const DeviceKernels* k : device_kernels()) catalog.add_records(k->device, k->records());
}

}  // namespace rlx::linalg
