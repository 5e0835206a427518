// What the dense operators share: matrices [..., n, n] of any leading (batch) dimensions, their derivatives in matrix
// form, their decompositions from that of one matrix, and the rules by which vmap adds a leading dimension.
#pragma once
#include "linalg/ops/common.hpp"

namespace rlx::linalg {

/// m^H, m [..., m, n].
inline Value adjoint(Value m) { return applied(m, Transpose::conjugate_transpose); }
/// (m + m^H) / 2.
Value hermitian(Value m);
/// m [..., n, n] where row number and column number compare so, zero elsewhere.
Value triangle(Value m, ops::Direction keep);
/// m x for vectors x [..., n] or columns x [..., n, k].
Value times(Value m, Value x);

/// Of x = op(A)^-1 b: the cotangent of b, op(A)^-H x_bar, by `solve`, which maps a right side and a mode to a solution.
template <class Solve>
Value adjoint_solve(Transpose mode, Value cotangent, const Solve& solve) {
  const Adjoint a = adjoint_of(mode, cotangent.dtype());
  const Value w = solve(a.conjugate ? ops::conj(cotangent) : cotangent, a.mode);
  return a.conjugate ? ops::conj(w) : w;
}
/// And the cotangent of A from that of b, `w`: -w x^H, which a mode carries to where it read A.
Value matrix_cotangent(Value a, Transpose mode, Value w, Value x);
/// And the right side of the solve that gives the tangent of x: b_dot - op(A_dot) x. Absent tangents are zero.
Value tangent_right_side(Transpose mode, Value a_tangent, Value b_tangent, Value x);

/// `one` on each member of a batch: it gets operands without their `leading` first dimensions, which all of them have.
/// Without such it is called as it is, else batched by vmap.
Values each_matrix(ValuesIn in, int leading, const RegionBody& one);
/// Rows of m [..., n] or [..., n, k] in another order: row i of the first is row rows[i] of m, and row rows[i] of the
/// second is row i of m; rows is [..., n].
Value take_rows(Value m, Value rows);
Value put_rows(Value m, Value rows);

/// Raises NumericalError of `op` when the program has run, where an element of the vector `flags` is true: it says
/// `what` and the position of the first one, counted from 1, which is its info.
void refuse_where(Value flags, const std::string& op, const std::string& what);
/// refuse_where a row of m [n, n], n > 0, holds what is not finite.
void refuse_not_finite(Value m, const std::string& op);

/// Of an operator that solves with a matrix: operands, constraints, the type of x.
template <class A>
struct DenseSolve {
  static constexpr Operand operands[] = {{"a", factorable}, {"b", factorable}};
  static constexpr Constraint<A> constraints[] = {
      {"C1", "a is [..., n, n]", [](const A&, const Signature& s) { return is_square(s, 0); }},
      {"C2", "b is [..., n] or [..., n, k]", [](const A&, const Signature& s) { return is_right_side(s, 0, 1, true); }},
      {"C3", "both have one dtype", [](const A&, const Signature& s) { return one_dtype(s, {0, 1}); }}};
  static Types infer(const A&, const Signature& s) { return {tensor(s.dtype(1), s.shape(1))}; }
};

/// The node once more, the new dimension of every operand in front (unbatched ones are repeated).
Batched batch_in_front(Builder& b, const Node& node, ValuesIn in, std::span<const int> axes, const Dim& size);
/// Of a solve, whose right side is its last operand: where only that is batched, its members are columns of one solve.
Batched batch_as_columns(Builder& b, const Node& node, ValuesIn in, std::span<const int> axes, const Dim& size);

template <class A>
Batched factor_batch(const BatchCall<A>& c) {
  return batch_in_front(c.b, c.node, c.in, c.axes, c.size);
}
template <class A>
Batched solve_batch(const BatchCall<A>& c) {
  return batch_as_columns(c.b, c.node, c.in, c.axes, c.size);
}

}  // namespace rlx::linalg
