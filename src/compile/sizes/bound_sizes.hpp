// Sizes that results introduce, met by bounded buffers: every symbol of the graph becomes its upper bound, beside it
// stands its value, and operators that bring elements together skip what lies beyond it (sized_node.hpp).
#pragma once
#include <rlx/compile/compile.hpp>

#include <string>
#include <utility>
#include <vector>

namespace rlx::compile {

struct BoundedGraph {
  Graph graph;                      ///< Constant shapes; values of the sizes are outputs after those of `hir`.
  std::vector<SizeResult> sizes{};  ///< One such output each.
  /// Rows of the report whose node has no bounded form, and why; what stands in their place is no use.
  std::vector<std::pair<int, std::string>> refused{};
};

/// `hir` has its rows in `report`, and constant shapes but for the sizes it introduces. Rows of nodes that become
/// several say so.
BoundedGraph bound_sizes(const Graph& hir, const Registry& registry, const Target& target,
                         const CompileOptions& options, DispatchReport& report);

}  // namespace rlx::compile
