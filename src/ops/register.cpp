#include <rlx/ops/attributes.hpp>
#include <rlx/ops/comm.hpp>
#include <rlx/ops/register.hpp>

namespace rlx::ops {

// One line an operator in all_ops.inc: the constant's name, defined in <name>.cpp.
#define RLX_OP(attributes, constant) extern const OpDef<attributes> constant;
#include "ops/all_ops.inc"
#undef RLX_OP

void register_ops(Registry& registry) {
#define RLX_OP(attributes, constant) registry.add(constant);
#include "ops/all_ops.inc"
#undef RLX_OP
}

}  // namespace rlx::ops
