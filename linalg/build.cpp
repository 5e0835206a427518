#include <rlx/linalg/build.hpp>

namespace rlx::linalg {

Value matmul(Value a, Value b) { return a.builder->emit1("linalg.matmul", {a, b}); }
Lu lu(Value a) {
  const Values r = a.builder->emit("linalg.lu", {a});
  return {r[0], r[1]};
}
Value lu_solve(const Lu& f, Value b, Transpose mode) {
  return b.builder->emit1("linalg.lu_solve", {f.factors, f.rows, b}, TransposeAttrs{mode});
}
Value cholesky(Value a) { return a.builder->emit1("linalg.cholesky", {a}); }
Value cholesky_solve(Value factor, Value b, Transpose mode) {
  return b.builder->emit1("linalg.cholesky_solve", {factor, b}, TransposeAttrs{mode});
}
Value triangular_solve(Value a, Value b, TriangularSolveAttrs attrs) {
  return b.builder->emit1("linalg.triangular_solve", {a, b}, attrs);
}
Value solve(Value a, Value b, Transpose mode) {
  if (std::holds_alternative<SparseType>(a.type())) return sparse_lu_solve(sparse_lu(a), a, b, {mode});
  return b.builder->emit1("linalg.solve", {a, b}, TransposeAttrs{mode});
}
Value solve_by_lu(const Lu& f, Value a, Value b, Transpose mode) {
  return b.builder->emit1("linalg.solve_by_lu", {f.factors, f.rows, a, b}, TransposeAttrs{mode});
}
Value solve_positive_definite(Value a, Value b) {
  if (std::holds_alternative<SparseType>(a.type())) return sparse_cholesky_solve(sparse_cholesky(a), a, b);
  return b.builder->emit1("linalg.solve_positive_definite", {a, b});
}
Value solve_by_cholesky(Value factor, Value a, Value b) {
  return b.builder->emit1("linalg.solve_by_cholesky", {factor, a, b});
}

Value spmv(Value a, Value x, Transpose mode) { return x.builder->emit1("linalg.spmv", {a, x}, TransposeAttrs{mode}); }
Value row_indices(Value a) { return a.builder->emit1("linalg.row_indices", {a}); }
Value diagonal(Value a) { return a.builder->emit1("linalg.diagonal", {a}); }
Value sparse_lu(Value a, SparseLuAttrs attrs) { return a.builder->emit1("linalg.sparse_lu", {a}, attrs); }
Value sparse_lu_update(Value f, Value a, SparseLuAttrs attrs) {
  return a.builder->emit1("linalg.sparse_lu_update", {f, a}, attrs);
}
static SparseSolution measured(std::string_view op, Value f, Value a, Value b, const SparseSolveAttrs& attrs) {
  const Values r = b.builder->emit(op, {f, a, b}, attrs);
  return {r[0], r[1], r[2]};
}
SparseSolution sparse_lu_solve_measured(Value f, Value a, Value b, SparseSolveAttrs attrs) {
  return measured("linalg.sparse_lu_solve", f, a, b, attrs);
}
Value sparse_lu_solve(Value f, Value a, Value b, SparseSolveAttrs attrs) {
  return sparse_lu_solve_measured(f, a, b, attrs).x;
}
Value sparse_cholesky(Value a) { return a.builder->emit1("linalg.sparse_cholesky", {a}); }
Value sparse_cholesky_update(Value f, Value a) { return a.builder->emit1("linalg.sparse_cholesky_update", {f, a}); }
SparseSolution sparse_cholesky_solve_measured(Value f, Value a, Value b, SparseSolveAttrs attrs) {
  return measured("linalg.sparse_cholesky_solve", f, a, b, attrs);
}
Value sparse_cholesky_solve(Value f, Value a, Value b, SparseSolveAttrs attrs) {
  return sparse_cholesky_solve_measured(f, a, b, attrs).x;
}
Value rcond(Value f, RcondAttrs attrs) { return f.builder->emit1("linalg.rcond", {f}, attrs); }
Value backward_error(Value a, Value x, Value b) { return b.builder->emit1("linalg.backward_error", {a, x, b}); }
Cg cg(Value a, Value b, Value x0, CgAttrs attrs) {
  const Values r = b.builder->emit("linalg.cg", {a, b, x0}, attrs);
  return {r[0], r[1], r[2], r[3]};
}

}  // namespace rlx::linalg
