// The operators of the library that belong to no family, for a registry.
#pragma once
#include <rlx/ir/registry.hpp>

namespace rlx::ops {
/// Adds the primitives and the composites that belong to no family.
RLX_API void register_ops(Registry& registry);
}  // namespace rlx::ops
