#include <rlx/ir/op_def.hpp>
#include <rlx/linalg/attributes.hpp>
#include <rlx/linalg/register.hpp>

namespace rlx::linalg {

#define RLX_OP(attributes, constant) extern const OpDef<attributes> constant;
#include "linalg/ops/all_ops.inc"
#undef RLX_OP

void register_ops(Registry& registry) {
#define RLX_OP(attributes, constant) registry.add(constant);
#include "linalg/ops/all_ops.inc"
#undef RLX_OP
}

}  // namespace rlx::linalg
