// How often a loop runs, where its text says it.
#pragma once
#include <rlx/ir/graph.hpp>

#include <cstdint>
#include <optional>

namespace rlx::compile {

/// The trips of a MIR `while` that counts: its condition is `i < limit`, where the state i starts at a constant, each
/// trip adds a positive constant to it, and the limit is a constant; i is i32 or i64. Absent for other loops, and where
/// the count is above max_trips, which is an error that the run reports.
std::optional<std::int64_t> known_trips(const Graph& mir, const Node& loop);

}  // namespace rlx::compile
