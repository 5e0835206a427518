// Values of symbols for a plan that is made before a call tells any.
#pragma once
#include <rlx/ir/error.hpp>
#include <rlx/ir/graph.hpp>

#include <cstdint>
#include <span>

namespace rlx::runtime {

/// What operators need of the sizes of `g`, beyond what the bounds of its symbols prove: its guards.
std::vector<Predicate> guards_of(const Graph& g);

/// `start`, its values changed one by one, within the bounds of `symbols` and to multiples of their divisors, until the
/// guards hold: a guard is solved for each of its symbols in turn. The last ones tried where that does not end; what
/// cannot be is said by whoever plans for them.
Bindings satisfying(Bindings start, const std::vector<Predicate>& guards, const SymbolTable& symbols);

/// `plan(value)` of the first of `values` that serves: sizes that do not fit each other (VerifyError), overflow
/// (ArgumentError) or fill memory (MemoryError) say nothing against the next one. Throws what the last one does.
template <class Plan>
auto planned_for_one_of(std::span<const std::int64_t> values, const Plan& plan) {
  for (const std::int64_t value : values.first(values.size() - 1)) {
    try {
      return plan(value);
    } catch (const VerifyError&) {
    } catch (const ArgumentError&) {
    } catch (const MemoryError&) {}
  }
  return plan(values.back());
}

}  // namespace rlx::runtime
