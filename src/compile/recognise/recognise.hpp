// Subgraphs that were written out become the operators that they are: HIR in, HIR out.
#pragma once
#include <rlx/compile/compile.hpp>

namespace rlx::compile {

/// Puts an operator in the place of nodes that are its decomposition, or another form of it that gives the same bits
/// (patterns.cpp), in all regions that are programs. A hit computes what was there: it is taken only where
/// - nothing outside of it uses an inner value (constants, and operands that are reshaped or repeated, may be used
///   elsewhere and stay for that),
/// - no constraint of the operator depends on a symbol,
/// - the policy has a path for the operator, and a record accepts it if the hit is of one node.
/// The last node becomes the operator and keeps its results, row and location; the others are gone from the region, and
/// their rows say so. `hir` has its rows in `report` (open_rows.hpp). Linear in the number of nodes, for patterns of
/// bounded size.
void recognise(Graph& hir, const Registry& registry, const Target& target, std::span<const KernelRecord> records,
               const CompileOptions& options, DispatchReport& report);

}  // namespace rlx::compile
