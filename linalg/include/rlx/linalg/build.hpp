// Builder functions of the linear-algebra operators. Matrices are n x n unless said otherwise; b is [n] or, for the
// dense solves, [n, k].
#pragma once
#include <rlx/ir/builder.hpp>
#include <rlx/linalg/attributes.hpp>

namespace rlx::linalg {

struct Lu {
  Value factors, rows;
};  ///< L below the diagonal, U on and above; A[rows] = L U.

RLX_API Value matmul(Value a, Value b);
RLX_API Lu lu(Value a);
RLX_API Value lu_solve(const Lu& f, Value b, Transpose mode = Transpose::none);
RLX_API Value cholesky(Value a);
RLX_API Value cholesky_solve(Value factor, Value b, Transpose mode = Transpose::none);
RLX_API Value triangular_solve(Value a, Value b, TriangularSolveAttrs attrs = {});
/// Solves A x = b: LU of a dense matrix; for a csr one a sparse LU with refinement.
RLX_API Value solve(Value a, Value b);

RLX_API Value spmv(Value a, Value x, Transpose mode = Transpose::none);
RLX_API Value row_indices(Value a);  ///< The row of every stored entry.
RLX_API Value diagonal(Value a);
RLX_API Value sparse_lu(Value a, SparseLuAttrs attrs = {});
/// The factorization of `a`, for which that of a matrix of its pattern saves the analysis.
RLX_API Value sparse_lu_update(Value factorization, Value a, SparseLuAttrs attrs = {});
RLX_API Value sparse_lu_solve(Value factorization, Value a, Value b, SparseSolveAttrs attrs = {});
RLX_API Value sparse_cholesky(Value a);
RLX_API Value sparse_cholesky_update(Value factorization, Value a);
RLX_API Value sparse_cholesky_solve(Value factorization, Value a, Value b, SparseSolveAttrs attrs = {});
RLX_API Value rcond(Value factorization);
/// |b - A x| / (|A| |x| + |b|) in max norms; f64[] for f64 and c128.
RLX_API Value backward_error(Value a, Value x, Value b);
struct Cg {
  Value x, iterations, residual, curvature;
};  ///< Not converged: residual above the tolerance. Not positive definite: curvature at most 0.
RLX_API Cg cg(Value a, Value b, Value x0, CgAttrs attrs = {});

}  // namespace rlx::linalg
