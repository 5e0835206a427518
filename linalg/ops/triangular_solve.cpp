#include "linalg/ops/dense.hpp"

namespace rlx::linalg {

using A = TriangularSolveAttrs;

/// What the solve reads of a matrix.
static Value read(Value m, const A& attrs) {
  if (attrs.unit_diagonal) return triangle(m, attrs.lower ? ops::Direction::gt : ops::Direction::lt);
  return triangle(m, attrs.lower ? ops::Direction::ge : ops::Direction::le);
}

// Substitution, a row a trip: what is not solved yet is zero in x, so the whole row may be multiplied.
static Values substitute(const A& attrs, ValuesIn in) {
  Builder& b = *in[0].builder;
  const Dim n = in[0].shape()[0];
  if (n == 0) return {in[1]};
  const std::string op = "linalg.triangular_solve";
  refuse_not_finite(read(in[0], attrs), op);
  const bool vector = in[1].rank() == 1;
  const Value rhs = vector ? ops::reshape(in[1], {n, 1}) : in[1];
  const Dim k = rhs.shape()[1];
  const bool lower = attrs.lower == (attrs.mode == Transpose::none);
  const Value a = applied(in[0], attrs.mode);
  const Value row = ops::iota(b, DType::i32, {n, n}, 0), column = ops::iota(b, DType::i32, {n, n}, 1);
  const Value strict = ops::select(ops::compare(row, column, lower ? ops::Direction::gt : ops::Direction::lt), a,
                                   ops::scalar(b, a.dtype(), 0));
  const Value on_diagonal = ops::compare(row, column, ops::Direction::eq);
  const Value diagonal = attrs.unit_diagonal
                             ? ops::full(b, a.dtype(), {n}, 1)
                             : ops::reduce_sum(ops::select(on_diagonal, a, ops::scalar(b, a.dtype(), 0)), {1});
  if (!attrs.unit_diagonal)
    refuse_where(ops::compare(diagonal, ops::zeros_like(diagonal), ops::Direction::eq), op,
                 "the matrix is singular: the first zero on its diagonal (counted from 1)");
  const Values state{ops::scalar(b, DType::i64, 0), ops::full(b, a.dtype(), {n, k}, 0)};
  const Values invariants{strict, diagonal, rhs, ops::constant(b, HostTensor::scalar_i64(DType::i64, n.constant()))};
  const Values out = ops::while_(
      state, invariants, [](ValuesIn v) -> Values { return {ops::compare(v[0], v[5], ops::Direction::lt)}; },
      [&](ValuesIn v) -> Values {
        const Value one = ops::scalar(*v[0].builder, DType::i64, 1);
        const Value i = lower ? v[0] : ops::sub(ops::sub(v[5], one), v[0]);
        const Value line = row_of(v[2], i);
        const Value known = ops::reshape(ops::matmul(ops::reshape(line, {1, n}), v[1]), {k});
        const Value solved = ops::div(ops::sub(row_of(v[4], i), known), ops::broadcast_to(row_of(v[3], i), {k}));
        return {ops::add(v[0], one), with_row(v[1], solved, i)};
      },
      n.constant());
  return {vector ? ops::reshape(out[1], {n}) : out[1]};
}

static Values triangular_decompose(Builder&, const A& attrs, ValuesIn in) {
  return each_matrix(in, in[0].rank() - 2, [&](ValuesIn one) { return substitute(attrs, one); });
}

static A with_mode(A attrs, Transpose mode) {
  attrs.mode = mode;
  return attrs;
}

// Only the triangle that was read has a cotangent.
static Values triangular_vjp(const VjpCall<A>& c) {
  Values out(2);
  if (!c.cotangent[0]) return out;
  const Value w = adjoint_solve(c.attrs.mode, c.cotangent[0], [&](Value right, Transpose mode) {
    return triangular_solve(c.in[0], right, with_mode(c.attrs, mode));
  });
  if (c.wanted[1]) out[1] = w;
  if (c.wanted[0]) out[0] = read(matrix_cotangent(c.in[0], c.attrs.mode, w, c.out[0]), c.attrs);
  return out;
}

static Values triangular_jvp(const JvpCall<A>& c) {
  const Value moved = c.tangent[0] ? read(c.tangent[0], c.attrs) : Value{};
  return {triangular_solve(c.in[0], tangent_right_side(c.attrs.mode, moved, c.tangent[1], c.out[0]), c.attrs)};
}

extern const OpDef<A> triangular_solve_op{
    .name = "linalg.triangular_solve",
    .doc =
        "x of op(A) x = b for a triangular A; the other triangle is not looked at. A zero on the diagonal, or an entry "
        "that is not finite, is a NumericalError. Source: BLAS xTRSM.",
    .operands = DenseSolve<A>::operands,
    .constraints = DenseSolve<A>::constraints,
    .infer = DenseSolve<A>::infer,
    .meaning = Composite<A>{triangular_decompose},
    .vjp = Vjp<A>{triangular_vjp},
    .jvp = triangular_jvp,
    .batch = solve_batch<A>,
    .shard = Never{"a distributed solve is ScaLAPACK's business"},
    .cost =
        [](const A&, const Signature& s) {
          const Dim n = s.shape(0).back();
          return Cost{n * s.tensor(1).numel(),
                      (s.tensor(0).numel() + s.tensor(1).numel() * 2) * (bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<A>> {
      const SampleOperand l(f64({4, 4}), Fill::lower_triangular), full(f64({4, 4}), Fill::well_conditioned),
          z(c128({3, 3}), Fill::well_conditioned);
      return {sample<A>({l, f64({4})}).within(1e-12),
              sample<A>({full, f64({4, 2})}, {.lower = false}).within(1e-12),
              sample<A>({full, f64({4})}, {.lower = true, .unit_diagonal = true, .mode = Transpose::transpose})
                  .within(1e-12),
              sample<A>({z, c128({3})}, {.mode = Transpose::conjugate_transpose}).within(1e-12),
              sample<A>({z, c128({3, 2})}, {.lower = false, .mode = Transpose::transpose}).within(1e-12),
              sample<A>({{f64({2, 2}), {2, 9, 1, 4}}, {f64({2}), {2, 9}}}).expects({{1, 2}}).exact(),
              sample<A>({SampleOperand(f64({2, 3, 3}), Fill::lower_triangular), f64({2, 3})}).within(1e-12),
              sample<A>({SampleOperand(c128({1, 2, 3, 3}), Fill::lower_triangular), c128({1, 2, 3, 2})},
                        {.mode = Transpose::conjugate_transpose})
                  .within(1e-12),
              sample<A>({f64({0, 0}), f64({0, 2})}).without_gradients(),
              sample<A>({f64({0, 2, 2}), f64({0, 2})}).without_gradients(),
              sample<A>({f64({2, 3}), f64({2})}).breaking("C1"),
              sample<A>({f64({2, 2}), f64({3})}).breaking("C2"),
              sample<A>({f64({3, 2, 2}), f64({2, 2})}).breaking("C2"),
              sample<A>({f64({2, 2}), f32({2})}).breaking("C3")};
    }};

}  // namespace rlx::linalg
