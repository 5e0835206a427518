// Software prefetches. Where a loop computes much for each element, too few of its loads are under way at once to keep
// memory busy, and stores wait for the lines that they complete; asking for both some way ahead decouples the two.
#pragma once
#include "compile/emit_llvm/plan.hpp"

#include <unordered_map>

namespace rlx::emit_llvm {

/// For the lir.load and lir.store nodes of a planned kernel that also ask for what lies ahead in their buffer: how many
/// elements ahead. Only large buffers count, each once, at its last access; in a loop over a row the next row is asked
/// for. Rows of loaded bounds are left out: where the next one lies is not known here.
std::unordered_map<NodeId, std::int64_t> prefetches(const Graph& g, const KernelPlan& plan);

}  // namespace rlx::emit_llvm
