#include <rlx/splat/register.hpp>

#include "splat/device_kernels.hpp"

namespace rlx::splat {

void add_to(runtime::Catalog& catalog) {
  register_ops(catalog.operators);
  for (const DeviceKernels* k : device_kernels()) catalog.add_records(k->device, k->records());
}

}  // namespace rlx::splat
