#include <rlx/ir/op_def.hpp>
#include <rlx/linalg/attributes.hpp>
#include <rlx/linalg/register.hpp>

#include "linalg/kernels/cpu/records.hpp"

namespace rlx::linalg {

#define RLX_OP(attributes, constant) extern const OpDef<attributes> constant;
#include "linalg/ops/all_ops.inc"
#undef RLX_OP

void add_to(runtime::Catalog& catalog) {
#define RLX_OP(attributes, constant) catalog.operators.add(constant);
#include "linalg/ops/all_ops.inc"
#undef RLX_OP
  catalog.add_records("cpu", cpu_records());
}

}  // namespace rlx::linalg
