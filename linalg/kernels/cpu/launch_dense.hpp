// Launches of the dense factorizations and solves: LAPACK on the memory of an instance's operands.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::linalg {
void launch_lu(const LaunchCall& c);
void launch_lu_solve(const LaunchCall& c);
void launch_cholesky(const LaunchCall& c);
void launch_cholesky_solve(const LaunchCall& c);
void launch_triangular_solve(const LaunchCall& c);
}  // namespace rlx::linalg
