// Decisions about one kernel that precede its code: where the vector lanes go, and the shape of its parallel range.
#pragma once
#include "compile/emit_llvm/emit_llvm.hpp"

#include <rlx/compile/lir.hpp>

#include <unordered_map>
#include <vector>

namespace rlx::emit_llvm {

struct KernelPlan {
  NodeId node = -1;
  const lir::KernelAttrs* attrs = nullptr;
  std::vector<std::int64_t> outer{};  ///< All extents but the last.
  std::int64_t last = 1;              ///< 1 where the kernel has no extents.
  std::int64_t block = 1;             ///< Points of the last dimension in a unit; a multiple of the lanes.
  std::int64_t blocks = 1;            ///< Units along the last dimension.
  std::int64_t tile = 1;  ///< Consecutive positions of the last outer dimension that a unit runs for each vector.
  std::int64_t units = 1;
  std::int64_t grain = 1;
  int lanes = 1;           ///< Along the last dimension.
  bool piecewise = false;  ///< A unit is a piece of what it writes.
  std::unordered_map<NodeId, int>
      loop_lanes{};  ///< lir.reduce and independent lir.for nodes that take lanes themselves.
  /// disjoint[i][j]: buffers i and j of the kernel share no byte, whatever the caller passes.
  std::vector<std::vector<bool>> disjoint{};
};

KernelPlan plan_kernel(const Graph& g, NodeId kernel, const Machine& machine);

/// Estimated cycles of a scalar elementwise operator.
double operator_cost(std::string_view op);
[[noreturn]] void refuse(std::string_view op, const std::string& why);

}  // namespace rlx::emit_llvm
