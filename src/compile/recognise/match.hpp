// Whether a subgraph is another one, written out.
#pragma once
#include <rlx/ir/graph.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace rlx::compile {

/// The values of `user` that stand for the inputs of `pattern`, a graph of one result, where `root` is computed from
/// them as that result is: the same operators with the same attributes and regions on values of the same types. What
/// may differ gives the same bits:
/// - operands of add, mul, min, max, and, or, xor in either order (a sum of two products may be contracted otherwise:
///   the order says which of them is rounded);
/// - how an elementwise operand got its shape: dimensions of size 1 that are there or not, one broadcast or several;
/// - how a constant is written: repeated, or with all its elements, or as a sum of others (constants.hpp);
/// - operations that give their operand back: times or over 1, less 0, the maximum with the least number, the minimum
///   with the greatest.
/// An input of the pattern stands for one value, for which `may_be_operand` holds.
std::optional<std::vector<ValueId>> match_graph(const Graph& pattern, const Graph& user, ValueId root,
                                                const std::function<bool(ValueId)>& may_be_operand);

}  // namespace rlx::compile
