// Builder functions of the linear-algebra operators. Matrices are n x n unless said otherwise; b is [n] or [n, k], for
// cg [n]; the operands of a call have one dtype. What does not fit is a VerifyError when the graph is
// built; the errors named below are raised when it runs. Without librlx_suitesparse the sparse factorizations are a
// CompileError.
//
// The dense operators take batches: leading dimensions, the same in all operands of a call.
#pragma once
#include <rlx/ir/builder.hpp>
#include <rlx/linalg/attributes.hpp>

namespace rlx::linalg {

/// Of A[rows] = L U: `factors` [n, n] holds L below the diagonal and U on and above, `rows` is i32 [n].
struct Lu {
  Value factors, rows;
};

/// [..., m, k] and [..., k, n] -> [..., m, n]: the product of the last two dimensions.
RLX_API Value matmul(Value a, Value b);
/// [n, n] -> factors [n, n] and rows [n], with partial pivoting; a singular matrix leaves a zero on U's diagonal.
/// An entry that is not finite: NumericalError.
RLX_API Lu lu(Value a);
/// x, like b, of op(A) x = b. A zero on U's diagonal, a factor that is not finite: NumericalError.
RLX_API Value lu_solve(const Lu& f, Value b, Transpose mode = Transpose::none);
/// [n, n] -> the lower L of A = L L^H, from A's lower triangle. Not positive definite: as in lu_solve.
RLX_API Value cholesky(Value a);
/// x, like b, of op(A) x = b, where `factor` [n, n] is the L of cholesky.
RLX_API Value cholesky_solve(Value factor, Value b, Transpose mode = Transpose::none);
/// x, like b, of op(A) x = b for a triangle of a [n, n]. A zero on its diagonal: as in lu_solve.
RLX_API Value triangular_solve(Value a, Value b, TriangularSolveAttrs attrs = {});
/// x, like b, of op(A) x = b: LU of a dense matrix; for a csr one a sparse LU with refinement. Singular: as for those.
/// Differentiates with respect to A and b by solves with the same factors.
RLX_API Value solve(Value a, Value b, Transpose mode = Transpose::none);
/// The dense solve with the factors that lu gave for this `a`, which are constants to derivatives: what differentiates
/// is `a`.
RLX_API Value solve_by_lu(const Lu& f, Value a, Value b, Transpose mode = Transpose::none);
/// x, like b, of A x = b by Cholesky, dense or sparse, of A's lower triangle; derivatives of a dense A are along
/// Hermitian matrices. Not positive definite: as for those.
RLX_API Value solve_positive_definite(Value a, Value b);
/// The dense one with the factor that cholesky gave for this `a`, as solve_by_lu.
RLX_API Value solve_by_cholesky(Value factor, Value a, Value b);

/// csr [m, n] and x [n] -> [m], or [n, k] -> [m, k]; transposed, x [m] -> [n]. op(a) has at least one column.
RLX_API Value spmv(Value a, Value x, Transpose mode = Transpose::none);
/// csr with at least one row -> [entries] of its index dtype: the row of every stored entry.
RLX_API Value row_indices(Value a);
/// csr [n, n] -> [n]; 0 where no entry is stored.
RLX_API Value diagonal(Value a);
/// csr [n, n], f64 or c128 -> factorization. NumericalError: singular; MemoryError: too large.
RLX_API Value sparse_lu(Value a, SparseLuAttrs attrs = {});
/// The factorization of `a`, for which that of a matrix of its pattern saves the analysis. Errors of sparse_lu.
RLX_API Value sparse_lu_update(Value factorization, Value a, SparseLuAttrs attrs = {});
/// x, like b, of op(A) x = b with refinement; `a` is the matrix that was factored. b is [n], [n, k] or, with attrs.axis
/// 1, [k, n]. The measures are f64 [], or [k]: those of backward_error and |b - op(A) x| / |b| in max norms, with the
/// residual of the refinement.
struct SparseSolution {
  Value x, backward_error, relative_residual;
};
RLX_API SparseSolution sparse_lu_solve_measured(Value factorization, Value a, Value b, SparseSolveAttrs attrs = {});
/// The x of that.
RLX_API Value sparse_lu_solve(Value factorization, Value a, Value b, SparseSolveAttrs attrs = {});
/// As sparse_lu, from the lower triangle of a Hermitian `a`. NumericalError where it is not positive definite.
RLX_API Value sparse_cholesky(Value a);
/// As sparse_lu_update, with the errors of sparse_cholesky.
RLX_API Value sparse_cholesky_update(Value factorization, Value a);
/// As for sparse_lu.
RLX_API SparseSolution sparse_cholesky_solve_measured(Value factorization, Value a, Value b,
                                                      SparseSolveAttrs attrs = {});
RLX_API Value sparse_cholesky_solve(Value factorization, Value a, Value b, SparseSolveAttrs attrs = {});
/// Sparse factorization -> f64 []: an estimate of the reciprocal condition of the equilibrated matrix, 1-norm.
RLX_API Value rcond(Value factorization, RcondAttrs attrs = {});
/// csr [m, n], x [n], b [m] -> []: |b - A x| / (|A| |x| + |b|) in max norms; f64 for f64 and c128. At least one row.
RLX_API Value backward_error(Value a, Value x, Value b);
/// x [n], iterations i32 [], residual [], curvature []. Not converged: residual above the tolerance. Not positive
/// definite: curvature at most 0.
struct Cg {
  Value x, iterations, residual, curvature;
};
/// csr [n, n], real symmetric positive definite, b and x0 [n]: conjugate gradients from x0. No error: the results tell.
RLX_API Cg cg(Value a, Value b, Value x0, CgAttrs attrs = {});

}  // namespace rlx::linalg
