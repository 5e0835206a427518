#include <rlx/ir/op_def.hpp>
#include <rlx/splat/attributes.hpp>
#include <rlx/splat/register.hpp>

#include "splat/device_kernels.hpp"

namespace rlx::splat {

#define RLX_OP(attributes, constant) extern const OpDef<attributes> constant;
#include "splat/ops/all_ops.inc"
#undef RLX_OP

void add_to(runtime::Catalog& catalog) {
#define RLX_OP(attributes, constant) catalog.operators.add(constant);
#include "splat/ops/all_ops.inc"
#undef RLX_OP
  for (const DeviceKernels* k : device_kernels()) catalog.add_records(k->device, k->records());
}

}  // namespace rlx::splat
