// Emission of lir.reduce, shared by the lowerings that sum.
#pragma once
#include "compile/lower/lower.hpp"

#include <rlx/ops/attributes.hpp>

#include <functional>
#include <vector>

namespace rlx::compile {

/// Combination, by a region of the MIR graph, of `term` over [lower, upper); every index lies in [0, extent).
Values emit_reduction(KernelBody& k, const Index& lower, const Index& upper, ValuesIn identities,
                      const std::function<Values(const Index&)>& term, const Graph& g, RegionId combine,
                      std::int64_t extent);

/// The same with a named operator of two scalars ("add", "min") as combination, for one value.
Value emit_reduction(KernelBody& k, const Index& lower, const Index& upper, Value identity,
                     const std::function<Value(const Index&)>& term, std::string_view combine, std::int64_t extent);

/// Second stage: combines partials [kept..., chunks] into results [kept...].
void reduce_partials(Lowering& l, const Node& n, const Values& partials, const std::vector<ValueId>& identities,
                     const std::vector<std::int64_t>& kept, std::int64_t chunks, const Values& results);

/// The neutral element of a combination as a scalar of type `t` ("set" has none).
Value identity_of(KernelBody& k, ops::Combine kind, DType t);
std::string_view combine_op(ops::Combine kind);

}  // namespace rlx::compile
