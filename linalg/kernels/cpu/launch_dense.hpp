// Launches of the dense factorizations and solves: LAPACK on the memory of an instance's operands.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::linalg {
void launch_lu(const LaunchCall& c);
void launch_lu_solve(const LaunchCall& c);
void launch_cholesky(const LaunchCall& c);
void launch_cholesky_solve(const LaunchCall& c);
void launch_triangular_solve(const LaunchCall& c);

/// xGESV, xGETRS, xPOSV and xPOTRS as the calls above: a factorization, where it is not an operand, and a solve with
/// it.
Values expand_solve(Builder& b, const Instance& i, ValuesIn in);
Values expand_solve_by_lu(Builder& b, const Instance& i, ValuesIn in);
Values expand_solve_positive_definite(Builder& b, const Instance& i, ValuesIn in);
Values expand_solve_by_cholesky(Builder& b, const Instance& i, ValuesIn in);
}  // namespace rlx::linalg
