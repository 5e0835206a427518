// Kernels whose points each store the element at their own position.
#pragma once
#include <rlx/ir/graph.hpp>

namespace rlx::compile {

/// Whether a kernel runs under mdrange over `shape`, every point stores the element at its own position in row-major
/// order, and it holds neither loops nor checks: so any part of its result can be made by itself.
bool stores_own_position(const Graph& g, const Node& kernel, const Shape& shape);
/// Whether such a kernel, moreover, loads from `from` only there.
bool loads_own_position(const Graph& g, const Node& kernel, const Shape& shape, ValueId from);

/// What is known of the loads of a kernel along its last dimension.
enum class AlongRows : std::uint8_t {
  yes,      ///< Each keeps its place or goes from one element to the next.
  unknown,  ///< Some have positions that are read or computed; no known one runs across.
  across    ///< Some run across rows, which would make code of its own run several rows at a time.
};
AlongRows loads_along_rows(const Graph& g, const Node& kernel);

}  // namespace rlx::compile
