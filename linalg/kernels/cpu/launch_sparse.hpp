// Launches of the sparse factorizations and solves: the plug-in's, on csr arrays and resources.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::linalg {
void launch_sparse_lu(const LaunchCall& c);
void launch_sparse_lu_update(const LaunchCall& c);
void launch_klu(const LaunchCall& c);  ///< As launch_sparse_lu, by no other library.
void launch_klu_update(const LaunchCall& c);
void launch_sparse_cholesky(const LaunchCall& c);
void launch_sparse_cholesky_update(const LaunchCall& c);
void launch_sparse_solve(const LaunchCall& c);  ///< Of either factorization; with iterative refinement.
void launch_rcond(const LaunchCall& c);
}  // namespace rlx::linalg
