// What the steps of a LIR program were lowered from.
#pragma once
#include <rlx/ir/graph.hpp>

#include <map>
#include <vector>

namespace rlx::compile {

/// Of one step. The nodes are those of MIR, which must outlive it.
struct StepSource {
  std::vector<const Node*> makes{};  ///< Whose results it makes; empty where it copies an input that is returned.
  std::vector<const Node*> uses{};   ///< Whose results it works out to use them, element by element.
  /// It does the work that the nodes it makes state as their cost; false: a copy of an operand, the second stage of a
  /// reduction.
  bool works = true;
};

/// By the step's node, whose id passes keep: they move steps, join them to calls and drop them, and what is left was
/// made from what it always was.
using StepSources = std::map<NodeId, StepSource>;

}  // namespace rlx::compile
