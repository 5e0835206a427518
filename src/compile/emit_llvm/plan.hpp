// Decisions about one kernel that precede its code: where the vector lanes go, and the shape of its parallel range.
#pragma once
#include "compile/emit_llvm/emit_llvm.hpp"
#include "compile/emit_llvm/lane_forms.hpp"

#include <rlx/compile/lir.hpp>

#include <unordered_map>
#include <vector>

namespace rlx::emit_llvm {

struct KernelPlan {
  NodeId node = -1;
  const lir::KernelAttrs* attrs = nullptr;
  std::vector<std::int64_t> outer{};  ///< All extents but the last.
  std::int64_t last = 1;              ///< 1 where the kernel has no extents.
  std::int64_t tile = 1;   ///< Consecutive positions of the last outer dimension that a unit runs for each vector.
  int lanes = 1;           ///< Along the last dimension.
  bool cut = false;        ///< Whether the last dimension may be cut into blocks: else it is one.
  bool piecewise = false;  ///< A unit is a piece of what it writes.
  LaneForms forms{};       ///< Of the body along the last dimension, where that takes lanes.
  std::unordered_map<NodeId, int>
      loop_lanes{};  ///< lir.reduce and independent lir.for nodes that take lanes themselves.
  /// disjoint[i][j]: buffers i and j of the kernel share no byte, whatever the caller passes.
  std::vector<std::vector<bool>> disjoint{};

  /// Known to launches alone, so that code does not depend on them.
  std::int64_t block = 1;   ///< Points of the last dimension in a unit; a multiple of the lanes.
  std::int64_t blocks = 1;  ///< Units along the last dimension.
  std::int64_t units = 1;
  std::int64_t grain = 1;
  /// The first extent, `block`, `blocks`, then what lir.size nodes give: see SizeIndex.
  std::vector<std::int64_t> sizes{};
};

/// Where a function finds the numbers of a launch.
enum SizeIndex : std::int64_t { size_of_first_extent, size_of_block, size_of_blocks, first_size_of_body };

KernelPlan plan_kernel(const Graph& g, NodeId kernel, const Machine& machine);

[[noreturn]] void refuse(std::string_view op, const std::string& why);

}  // namespace rlx::emit_llvm
