// Offsets of transient buffers in one slab: buffers that are never live at the same time share bytes.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::compile {

/// Sets BufferAttrs::offset of every transient. Steps run in order, so a buffer lives from the first step
/// that names it to the last; one that is named inside a loop from outside lives through the whole loop, and one that
/// the steps of a start name lives to its done. Returns the
/// bytes of the arena.
std::int64_t plan_memory(Graph& lir, const Target& target);

}  // namespace rlx::compile
