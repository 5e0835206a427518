// A region without the composites that the recognition pass looks into.
#pragma once
#include <rlx/ir/builder.hpp>

#include <set>
#include <string_view>
#include <vector>

namespace rlx::compile {

/// A copy of one region, in which `opened` composites are replaced by their decompositions. Nodes that no pattern looks
/// into (those with subprograms, with sizes of their own, with no tensor) are left out: their results are inputs.
struct FlatRegion {
  Graph graph;
  std::vector<ValueId> at;     ///< Of each value of the source that its region defines: the copy; -1 elsewhere.
  std::vector<ValueId> whole;  ///< Of each value here: the first that it copies; -1 inside a decomposition.
};

/// Node::origin of the copy is the place of the source's node in its region.
FlatRegion flatten(const Graph& from, RegionId region, const Registry& registry,
                   const std::set<std::string_view>& opened);

/// Whether regions of `op` are programs, nodes in order, rather than functions of its elements.
bool has_subprograms(std::string_view op);

}  // namespace rlx::compile
