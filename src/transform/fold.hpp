// Identities that hold bit for bit, one node at a time.
#pragma once
#include <rlx/ir/builder.hpp>
#include <rlx/ir/op.hpp>

#include <functional>
#include <optional>

namespace rlx::transform {

/// How a fold emits: through its user's own folding and merging.
using FoldEmit = std::function<Value(std::string_view op, ValuesIn operands, AnyAttrs attrs)>;

/// What `op` on `operands`, an operator without regions and with one result of type `result`, is equal to; none if
/// nothing simpler is known.
std::optional<Value> fold(const Op& op, const AnyAttrs& attrs, ValuesIn operands, const Type& result,
                          const FoldEmit& emit);

/// The value that every element of `x` has, where the graph says so.
std::optional<HostTensor> splat(Value x);

}  // namespace rlx::transform
