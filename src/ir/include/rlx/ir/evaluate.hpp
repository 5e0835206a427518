// Host evaluation of graphs by the references: slow, obvious, and what every device is tested against.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/host_value.hpp>
#include <rlx/ir/registry.hpp>

#include <functional>

namespace rlx {

/// Sees each node before it runs by its reference, and each composite before its decomposition does, with its operands
/// and the constant types of its results; may throw.
using NodeWatch = std::function<void(const Node&, std::span<const HostValue> operands, std::span<const Type> results)>;

/// A node that has run by its reference: of the graph, or of the decomposition of one of its nodes.
struct Evaluated {
  const Graph& graph;  ///< That holds it.
  const Node& node;
  const Node& of;  ///< The innermost node around it, or itself, that has an origin; itself where none has.
  std::span<const HostValue> operands, results;
};
/// May throw.
using ResultWatch = std::function<void(const Evaluated&)>;

/// Evaluates a HIR or MIR graph; composites by their decomposition. Arguments must have the input types, whose symbols
/// they bind. Throws ArgumentError on a count or type that does not fit.
RLX_API HostValues evaluate(const Graph& g, const Registry& registry, std::span<const HostValue> arguments,
                            const NodeWatch& watch = {}, const ResultWatch& seen = {});

}  // namespace rlx
