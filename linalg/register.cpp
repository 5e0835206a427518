#include <rlx/ir/op_def.hpp>
#include <rlx/linalg/attributes.hpp>
#include <rlx/linalg/register.hpp>

#include "linalg/device_kernels.hpp"

namespace rlx::linalg {

#define RLX_OP(attributes, constant) extern const OpDef<attributes> constant;
#include "linalg/ops/all_ops.inc"
#undef RLX_OP

void add_to(runtime::Catalog& catalog) {
#define RLX_OP(attributes, constant) catalog.operators.add(constant);
#include "linalg/ops/all_ops.inc"
#undef RLX_OP
  for (const DeviceKernels* k : device_kernels()) catalog.add_records(k->device, k->records());
}

}  // namespace rlx::linalg
