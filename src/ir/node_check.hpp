// What the parser and the verifier demand of one node, in an order in which no rule sees what it need not expect.
#pragma once
#include <rlx/ir/counted.hpp>
#include <rlx/ir/op.hpp>

namespace rlx {

/// Arity, operand kinds and dtypes; number and argument types of regions; constraints. Gives what `infer` says of the
/// results. Throws VerifyError; an ArgumentError of a rule (a dimension overflows) becomes one with constraint "infer".
Types check_node(const Op& op, const AnyAttrs& attrs, const Signature& s);

/// Whether the operands' number and kinds are what the operator declares: what `region_arguments` may count on.
bool operands_fit(const Op& op, const Signature& s);

}  // namespace rlx
