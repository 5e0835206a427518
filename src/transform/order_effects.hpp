// An order of effects that derivatives leave open.
#pragma once
#include <rlx/ir/graph.hpp>

namespace rlx::transform {

/// Nodes whose tokens come from one become one chain, in the order of the graph: the rule of a collective puts those of
/// its (co)tangent after the primal one, so that without it several of them, and what follows in the primal graph,
/// would be in no order among each other. Ranks that run the same graph then meet in the same order.
void order_effects(Graph& g);

}  // namespace rlx::transform
