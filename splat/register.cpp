#include <rlx/ir/op_def.hpp>
#include <rlx/splat/attributes.hpp>
#include <rlx/splat/register.hpp>

#ifdef RLX_SPLAT_KERNELS_CPU
#include "splat/kernels/cpu/records.hpp"
#endif

namespace rlx::splat {

#define RLX_OP(attributes, constant) extern const OpDef<attributes> constant;
#include "splat/ops/all_ops.inc"
#undef RLX_OP

void add_to(runtime::Catalog& catalog) {
#define RLX_OP(attributes, constant) catalog.operators.add(constant);
#include "splat/ops/all_ops.inc"
#undef RLX_OP
#ifdef RLX_SPLAT_KERNELS_CPU
  catalog.add_records("cpu", cpu_records());
#endif
}

}  // namespace rlx::splat
