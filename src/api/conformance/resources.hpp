// Resources in instances: no literal states one, so it is made in the same graph, and read there; but for a
// communicator of one rank, which is given.
#pragma once
#include "api/conformance/checks.hpp"

namespace rlx::conformance {

/// The operator that makes resources of this kind from a sparse matrix alone; null where there is none.
const Op* maker_of(const ResourceType& t, const Registry& registry);

/// A sample in a graph.
struct Emitted {
  NodeId node = -1;                     ///< The operator's.
  std::vector<SampleOperand> inputs{};  ///< What is given: the operands that no operator makes, and what makers read.
  Values outputs{};  ///< Results; in place of a resource, what the operator that solves with it gives.
};
/// A resource operand is the result of its maker on the sample's first sparse operand of the same order and element
/// type, or else on a positive definite matrix of its own. Inputs are named from `prefix`. Throws what emission throws.
Emitted emit_sample(Builder& b, const Op& op, const AnySample& s, const std::string& prefix = {});

}  // namespace rlx::conformance
