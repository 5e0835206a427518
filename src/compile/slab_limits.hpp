// What a program needs in bytes, against 64 bits, and what a planned one binds, against what the target lets it.
#pragma once
#include <rlx/compile/report.hpp>
#include <rlx/compile/target.hpp>

namespace rlx::compile {

/// Sizes of buffers are numbers of 64 bits, counted in bits before they are in bytes. Throws MemoryError for a tensor, or
/// an array of a sparse value, beyond that. Shapes are constant.
void check_byte_sizes(const Graph& mir);

/// A slab is the arena, or the memory of an input, of an output or of a constant. Throws MemoryError where one of them,
/// or all together, have more bytes than the target allows; CompileError, with the row that the step belongs to, where
/// a step binds more slabs than one dispatch may, or reads a slab that it writes another part of.
void check_slab_limits(const Graph& lir, const Target& target, std::int64_t arena_bytes, const DispatchReport& report);

}  // namespace rlx::compile
