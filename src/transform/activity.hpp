// Which values depend on which, before anything is emitted: what need not be differentiated or batched is left alone.
#pragma once
#include "transform/control.hpp"

#include <unordered_map>
#include <unordered_set>

namespace rlx::transform {

/// Whether values of the type have tangents and cotangents.
bool has_tangent(const Type& t);

/// Along what a dependence runs: every operand, or only values that have tangents.
enum class Along { values, tangents };

using ValueSet = std::unordered_set<ValueId>;

/// Values of the region that depend on the arguments that `from` names, these included.
ValueSet reached(const Graph& g, RegionId r, const Mask& from, Along along);
/// Values of the region on which the results that `to` names depend, these included; along tangents.
ValueSet needed(const Graph& g, RegionId r, const Mask& to);

/// The same for one node: results reached from operands, operands needed by results.
Mask reached_results(const Graph& g, const Node& n, const Mask& operands, Along along);
Mask needed_operands(const Graph& g, const Node& n, const Mask& results);
/// Carried values of a loop that are reached in some trip, when its operands `from` are.
Mask reached_state(const Graph& g, const Node& n, const Mask& from, Along along);
/// Carried values that are needed in some trip, when the loop's results `to` are.
Mask needed_state(const Graph& g, const Node& n, const Mask& to);

Mask mask_of(const std::vector<ValueId>& values, const ValueSet& set);

/// Resources made from values that have tangents: their users must take those values as operands as well (vjp.hpp).
class ResourceTrace {
 public:
  /// Looks at a node; `varied` tells which operands have tangents, `matters` whether its results do.
  void visit(const Graph& g, const Node& n, const Mask& varied, bool matters, std::string_view rule);

 private:
  std::unordered_map<ValueId, std::vector<ValueId>> roots_;
};

}  // namespace rlx::transform
