// Registration of the LIR operators, by file.
#pragma once
#include <rlx/compile/lir.hpp>

namespace rlx::lir {
void register_step_ops(Registry& r);
void register_body_ops(Registry& r);
}  // namespace rlx::lir
