// Attributes of operators whose regions are programs.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <cstdint>
#include <tuple>

namespace rlx::ops {

/// while(state..., invariants...) (condition(state..., invariants...) -> bool[], body(state..., invariants...) ->
/// state...).
struct WhileAttrs {
  int carried = 0;              ///< How many operands are state; results are the final state.
  std::int64_t max_trips = -1;  ///< Upper bound, needed by reverse mode; -1: none known.
  bool operator==(const WhileAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"carried", &WhileAttrs::carried, "operands that are state"},
                 Field{"max_trips", &WhileAttrs::max_trips, "upper bound of the trip count, -1: none"}};
};

/// scan(state..., sequences [length, ...]..., invariants...) (body(state..., elements..., invariants...) -> state...,
/// outputs...)
/// -> final state..., stacked outputs [length, ...].
struct ScanAttrs {
  int carried = 0, sequences = 0;
  Dim length = 0;
  bool reverse = false;
  bool operator==(const ScanAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"carried", &ScanAttrs::carried, "operands that are state"},
                 Field{"sequences", &ScanAttrs::sequences, "operands that are walked along dimension 0"},
                 Field{"length", &ScanAttrs::length, "trip count"},
                 Field{"reverse", &ScanAttrs::reverse, "from the last element to the first"}};
};

/// checkpoint(operands...) (body(operands...) -> results...) -> results...
struct CheckpointAttrs {
  bool recomputes = false;
  bool operator==(const CheckpointAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"recomputes", &CheckpointAttrs::recomputes,
                       "it repeats what was computed before: a barrier keeps both apart. Set by reverse mode"}};
};

}  // namespace rlx::ops
