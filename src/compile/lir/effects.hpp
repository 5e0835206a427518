// What steps of a LIR program read and write.
#pragma once
#include <rlx/compile/lir.hpp>

#include <set>
#include <span>
#include <vector>

namespace rlx::lir {

/// The buffer or input that a value is, or is a view of.
ValueId root(const Graph& program, ValueId v);

/// The arguments of a kernel's body that stand for its buffers: one an operand, after the indices.
std::span<const ValueId> buffer_arguments(const Graph& program, const Node& kernel);

/// By root, resources among them; a step that holds steps does both to all that these name.
struct Effects {
  std::set<ValueId> reads, writes;
  /// Whether the order of the two matters.
  bool conflicts(const Effects& o) const;
};
Effects effects(const Graph& program, const std::vector<NodeId>& steps);

}  // namespace rlx::lir
