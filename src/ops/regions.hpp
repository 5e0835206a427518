// Regions that combine values: the types in which they do, recognising them, copying them to a rewritten node,
// evaluating them on the host.
#pragma once
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/reduction.hpp>

#include "ops/positions.hpp"

#include <optional>

namespace rlx::ops {

/// The region combines n pairs: arguments a0 .. an-1, b0 .. bn-1. Gives the combination of pair `index` when result
/// `index` is exactly add, mul, min or max of it (and, or of bool count as min and max), in either order.
RLX_API std::optional<Combine> recognise_combine(const Graph& g, RegionId region, std::size_t index = 0);

using DTypes = std::vector<DType>;

/// The type in which operand `i` is combined, and that of the result, by the lists of ReduceAttrs.
inline DType combined_type(const DTypes& accumulate, std::size_t i, DType operand) {
  return listed_type(accumulate, i, default_accumulator(operand));
}
/// Arguments of such a region for operands xs..., identities... : scalars of the types in which xs are combined, twice.
Types combine_arguments(const DTypes& accumulate, const Signature& s);
/// The constraints of reduce and associative_scan on operands, identities, region and types, in this order.
Answer operands_and_identities(const Signature& s);
Answer one_shape(const Signature& s);
Answer combines_scalars(const DTypes& accumulate, const Signature& s);
Answer types_widen(const DTypes& accumulate, const DTypes& result, const Signature& s);
/// A sample's identity: a scalar, real or complex, that is not differentiated.
SampleOperand neutral_operand(DType t, double v);
/// A body that copies region `index` of `node`.
RegionBody same_region(Builder& b, const Graph& g, const Node& node, std::size_t index = 0);
/// to[i] = region(to[i], from[j]) over all tensors at once, whose types are those that the region combines.
void combine_by_region(const ReferenceCall& c, std::vector<HostTensor>& to, std::int64_t i, std::size_t operands,
                       std::int64_t j);
/// Element j of x, a scalar, in another type.
HostTensor converted_element(const HostTensor& x, std::int64_t j, DType t);

}  // namespace rlx::ops
