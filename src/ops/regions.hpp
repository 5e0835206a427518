// Regions that combine values: recognising them, copying them to a rewritten node, evaluating them on the host.
#pragma once
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes.hpp>

#include "ops/positions.hpp"

#include <optional>

namespace rlx::ops {

/// The region combines n pairs: arguments a0 .. an-1, b0 .. bn-1. Gives the combination of pair `index` when result
/// `index` is exactly add, mul, min or max of it (and, or of bool count as min and max), in either order.
RLX_API std::optional<Combine> recognise_combine(const Graph& g, RegionId region, std::size_t index = 0);

/// Arguments of such a region for operands xs..., identities... : scalars of the dtypes of xs, twice.
Types combine_arguments(const Signature& s);
/// The constraints of reduce and associative_scan on operands, identities and region, in this order.
Answer operands_and_identities(const Signature& s);
Answer one_shape(const Signature& s);
Answer combines_scalars(const Signature& s);
/// A sample's identity: a scalar, real or complex, that is not differentiated.
SampleOperand neutral_operand(DType t, double v);
/// A body that copies region `index` of `node`.
RegionBody same_region(Builder& b, const Graph& g, const Node& node, std::size_t index = 0);
/// to[i] = region(to[i], from[j]) over all tensors at once.
void combine_by_region(const ReferenceCall& c, std::vector<HostTensor>& to, std::int64_t i, std::size_t operands,
                       std::int64_t j);

}  // namespace rlx::ops
