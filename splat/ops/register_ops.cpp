#include <rlx/ir/op_def.hpp>
#include <rlx/splat/attributes.hpp>
#include <rlx/splat/register.hpp>

namespace rlx::splat {

#define RLX_OP(attributes, constant) extern const OpDef<attributes> constant;
#include "splat/ops/all_ops.inc"
#undef RLX_OP

void register_ops(Registry& registry) {
#define RLX_OP(attributes, constant) registry.add(constant);
#include "splat/ops/all_ops.inc"
#undef RLX_OP
}

}  // namespace rlx::splat
