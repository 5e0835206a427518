// Forward mode over one region.
#pragma once
#include "transform/tangents.hpp"

namespace rlx::transform {

struct Pushed {
  Values results, tangents;
};

/// Emits the region's nodes, its arguments standing for `arguments`, together with the tangents of what depends on
/// those that have one. Absent tangents are zero.
Pushed push_region(Builder& b, const Graph& g, RegionId r, ValuesIn arguments, ValuesIn tangents, int depth = 0);

/// The same for one control-flow node.
Pushed control_push(Builder& b, const Graph& g, const Node& n, ValuesIn in, ValuesIn tangents);

}  // namespace rlx::transform
