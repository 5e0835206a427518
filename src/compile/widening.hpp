// Where what runs computes in a wider type than the program names: allowed, and noted in the report.
#pragma once
#include <rlx/compile/target.hpp>
#include <rlx/ir/graph.hpp>

#include <string_view>

namespace rlx {
struct DispatchReport;
}

namespace rlx::compile {

/// Whether the result of elementwise primitive `op` on elements of `t` is always a value of that type as it comes (one
/// of the operands, a truth, bits), so that nobody can tell what type it was computed in.
bool is_exact(std::string_view op, DType t);

/// f16 and bf16 in f32, all else in its own type: what languages without arithmetic in 16 bits do. For
/// Target::computes_in.
DType small_floats_in_f32(std::string_view op, DType t);

/// Adds to the rows of `mir` the notes "widened: f16 computed in f32" of nodes that no record runs, by
/// Target::computes_in: elementwise primitives, regions of scalar functions, sums of products in the accumulator that
/// they state, and what adds or multiplies elements by its kind.
void note_widening(const Graph& mir, const Target& target, DispatchReport& report);

}  // namespace rlx::compile
