// Software prefetches. Where a loop computes much for each element, too few of its loads are under way at once to keep
// memory busy, and stores wait for the lines that they complete; asking for both some way ahead decouples the two.
#pragma once
#include "compile/emit_llvm/plan.hpp"

#include <unordered_map>

namespace rlx::emit_llvm {

/// What an access asks for besides its own element.
struct Prefetch {
  std::int64_t ahead = 0;  ///< Elements from its own.
  /// Set in a loop that asks for half of a row: while it goes through its own row, what it asks for moves half as fast.
  ValueId half_of = -1;  ///< The loop's index, from 0.
};

/// For the lir.load and lir.store nodes of a planned kernel that also ask for what lies ahead in their buffer. Only
/// large buffers count, each once, at an access in the loop that takes most time. In a loop over a row the next row is
/// asked for, by halves in the two dearest loops where these are alike: requests that are spread over time do not wait
/// for each other. Rows of loaded bounds are left out: where the next one lies is not known here. Where positions of
/// the last dimension run one by one, as rows of sums do, their results are asked for, to be written; not where
/// segments are taken entry by entry, whose results fill a line in what is left of the time.
std::unordered_map<NodeId, Prefetch> prefetches(const Graph& g, const KernelPlan& plan, const Machine& machine);

/// Whether a kernel's buffer of this type is so large that it comes from memory.
bool comes_from_memory(const TensorType& buffer);

/// Whether the bounds of a lir.for or lir.reduce come from memory, as those of segments do.
bool has_loaded_bounds(const Graph& g, const Node& loop);

/// Whether a load of the terms of a lir.reduce, outside of their own regions, takes an address for each lane.
bool gathers(const Graph& g, const Node& reduction);

/// Whether a lir.reduce takes its terms one by one although it could take lanes: segments whose entries have addresses
/// of their own, where gathers are slow.
bool by_entries(const Graph& g, const Node& reduction, const Machine& machine);

}  // namespace rlx::emit_llvm
