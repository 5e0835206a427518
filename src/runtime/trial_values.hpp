// Values of symbols for a plan that is made before a call tells any.
#pragma once
#include <rlx/ir/graph.hpp>

namespace rlx::runtime {

/// What operators need of the sizes of `g`, beyond what the bounds of its symbols prove: its guards.
std::vector<Predicate> guards_of(const Graph& g);

/// `start`, its values changed one by one, within the bounds of `symbols` and to multiples of their divisors, until the
/// guards hold: a guard is solved for each of its symbols in turn. The last ones tried where that does not end; what
/// cannot be is said by whoever plans for them.
Bindings satisfying(Bindings start, const std::vector<Predicate>& guards, const SymbolTable& symbols);

}  // namespace rlx::runtime
