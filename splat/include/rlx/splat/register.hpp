// The operators and records of the family, for a catalog.
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/runtime/catalog.hpp>

namespace rlx::splat {
/// Adds the operators splat.* alone, for whoever has graphs of them and runs none.
RLX_API void register_ops(Registry& registry);
/// Adds the operators splat.* and their records.
RLX_API void add_to(runtime::Catalog& catalog);
}  // namespace rlx::splat
