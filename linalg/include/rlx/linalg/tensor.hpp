// Linear algebra over Tensor and Csr: the operators of build.hpp for functions that are traced, differentiated and
// compiled. The operands of a call have one dtype. What does not fit is a VerifyError at the call; the errors named
// below are raised when the values are computed. Nodes and refusals have the caller's line, as those of rlx/tensor.hpp.
#pragma once
#include <rlx/csr.hpp>
#include <rlx/linalg/attributes.hpp>
#include <rlx/linalg/csr_view.hpp>

namespace rlx::linalg {

/// Adds the operators of the family to the default catalog, once; each function here does so.
RLX_API void ensure_registered();

/// A concrete matrix from a view, copied.
template <class T, class Index>
Csr to_csr(const CsrView<T, Index>& a) {
  const auto copy = [](auto s) { return Tensor::from(s); };
  return Csr(a.cols, copy(a.row_offsets), copy(a.columns), copy(a.values));
}

/// x, like b, of A x = b, A [n, n] f64 or c128, b [n] or [n, k], by one sparse LU with refinement. Differentiates with
/// respect to A and b. Singular: NumericalError; without librlx_suitesparse: CompileError.
RLX_API Tensor solve(const Csr& a, const Tensor& b, RLX_HERE);
/// x, like b, of A x = b by LU; a is [n, n], b [n] or [n, k], or batches of both, [..., n, n] and so on, as in all
/// dense functions here. Differentiates as that of Csr. Singular, or an entry that is not finite: NumericalError.
RLX_API Tensor solve(const Tensor& a, const Tensor& b, RLX_HERE);
/// solve(Csr) by a sparse Cholesky of a symmetric or Hermitian positive definite A; NumericalError where it is not.
RLX_API Tensor solve_positive_definite(const Csr& a, const Tensor& b, RLX_HERE);
/// The dense solve by Cholesky, from A's lower triangle; derivatives are along Hermitian matrices. Not positive
/// definite: NumericalError.
RLX_API Tensor solve_positive_definite(const Tensor& a, const Tensor& b, RLX_HERE);
/// x, like b, of op(A) x = b for a triangle of a [n, n]; b is [n] or [n, k]. A zero on its diagonal: as in the dense
/// solve.
RLX_API Tensor triangular_solve(const Tensor& a, const Tensor& b, TriangularSolveAttrs attrs = {}, RLX_HERE);
/// [n, n] -> the lower L of A = L L^H, from A's lower triangle. Not positive definite: as in the dense solve by it.
RLX_API Tensor cholesky(const Tensor& a, RLX_HERE);

/// A [m, n] and x [n] -> [m], or [n, k] -> [m, k]; transposed, x [m] -> [n]. op(A) has at least one column.
RLX_API Tensor spmv(const Csr& a, const Tensor& x, Transpose mode = Transpose::none, RLX_HERE);
/// A [n, n] -> [n]; 0 where no entry is stored.
RLX_API Tensor diagonal(const Csr& a, RLX_HERE);
/// [entries]: the row of every stored entry of a matrix with at least one row.
RLX_API Tensor row_indices(const Csr& a, RLX_HERE);

/// x [n], iterations i32 [], residual [], curvature []. Not converged: residual above the tolerance. Not positive
/// definite: curvature at most 0.
struct CgResult {
  Tensor x, iterations, residual, curvature;
};
/// Conjugate gradients for a real symmetric positive definite A [n, n], b and x0 [n]. No error: the results tell.
RLX_API CgResult cg(const Csr& a, const Tensor& b, const Tensor& x0, CgAttrs attrs = {}, RLX_HERE);
/// The same from x0 = 0.
RLX_API CgResult cg(const Csr& a, const Tensor& b, CgAttrs attrs = {}, RLX_HERE);

}  // namespace rlx::linalg
