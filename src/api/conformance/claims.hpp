// What an operator claims by the element types of its operands, and the instances that prove it.
#pragma once
#include "api/conformance/checks.hpp"

namespace rlx::conformance {

/// The operand whose element type tells instances of an operator apart: the one that takes the most types, of several
/// the first. Nothing where no operand states any.
std::optional<std::size_t> determining_operand(const Op& op);

/// For each element type that an operand claims and `storage` holds, and that none of `instances` has there, adds
/// instances of retyped samples: for each form (form_of) of the operator that the type can have, or for one. A type
/// that no form can have is a failed case "claim": the operator takes less than it says, or needs a sample of that
/// type. Operators whose operands no sample can make have no cases of that kind. `next` is the index of the first
/// instance that is added.
void add_claimed(const Op& op, std::size_t next, DTypeSet storage, Forms forms, std::vector<Instance>& instances,
                 Collector& out);

}  // namespace rlx::conformance
