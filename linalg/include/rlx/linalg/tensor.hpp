// Linear algebra over Tensor and Csr: the operators of build.hpp for functions that are traced, differentiated and
// compiled.
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

/// x of A x = b by a sparse LU with refinement. Differentiates with respect to A and b.
RLX_API Tensor solve(const Csr& a, const Tensor& b);
/// Dense, by LU; b is [n] or [n, k].
RLX_API Tensor solve(const Tensor& a, const Tensor& b);
/// Symmetric or Hermitian positive definite.
RLX_API Tensor solve_positive_definite(const Csr& a, const Tensor& b);
RLX_API Tensor solve_positive_definite(const Tensor& a, const Tensor& b);
RLX_API Tensor triangular_solve(const Tensor& a, const Tensor& b, TriangularSolveAttrs attrs = {});
RLX_API Tensor cholesky(const Tensor& a);

RLX_API Tensor spmv(const Csr& a, const Tensor& x, Transpose mode = Transpose::none);
RLX_API Tensor diagonal(const Csr& a);
RLX_API Tensor row_indices(const Csr& a);  ///< The row of every stored entry.

struct CgResult {
  Tensor x, iterations, residual, curvature;
};
/// Conjugate gradients from x0, or from 0. Not converged: residual above the tolerance; A is not positive definite:
/// curvature at most 0.
RLX_API CgResult cg(const Csr& a, const Tensor& b, const Tensor& x0, CgAttrs attrs = {});
RLX_API CgResult cg(const Csr& a, const Tensor& b, CgAttrs attrs = {});

}  // namespace rlx::linalg
