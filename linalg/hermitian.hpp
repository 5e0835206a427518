// Whether a sparse matrix is what a Cholesky factorization stands for.
#pragma once
#include <string>

#include <rlx/linalg/csr_view.hpp>

namespace rlx::linalg {

/// Throws NumericalError under the name `op` where the square matrix is not Hermitian: where a_ij and conj(a_ji) differ
/// by more than 1e-12 sqrt(|a_ii| |a_jj|), which is rounding of sums that assemble it and does no harm to a solve that
/// refines. Entries that are not stored are zeros, so that one triangle alone is refused. What is no matrix is refused
/// as to_csc does.
template <class T, class Index>
void check_hermitian(const std::string& op, const CsrView<T, Index>& a);

}  // namespace rlx::linalg
