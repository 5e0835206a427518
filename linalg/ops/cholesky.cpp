#include "linalg/ops/dense.hpp"

namespace rlx::linalg {

constexpr Operand cholesky_operands[] = {{"a", factorable}};
constexpr Constraint<NoAttributes> cholesky_constraints[] = {
    {"C1", "a is [..., n, n]", [](const NoAttributes&, const Signature& s) { return is_square(s, 0); }}};

static Types cholesky_infer(const NoAttributes&, const Signature& s) { return {tensor(s.dtype(0), s.shape(0))}; }

static Value real_part(Value x) {
  return is_complex(x.dtype()) ? ops::complex(ops::real(x), ops::zeros_like(ops::real(x))) : x;
}

// Left-looking, a column a trip: column k of A less what the columns before it give, divided by the root of its
// diagonal.
static Values cholesky_of_one(ValuesIn in) {
  Builder& b = *in[0].builder;
  const Dim n = in[0].shape()[0];
  if (n == 0) return {in[0]};
  refuse_not_finite(triangle(in[0], ops::Direction::ge), "linalg.cholesky");
  const Values state{ops::scalar(b, DType::i64, 0), ops::full(b, in[0].dtype(), {n, n}, 0)};
  const Values invariants{in[0], ops::constant(b, HostTensor::scalar_i64(DType::i64, n.constant()))};
  const Values out = ops::while_(
      state, invariants, [](ValuesIn v) -> Values { return {ops::compare(v[0], v[3], ops::Direction::lt)}; },
      [&](ValuesIn v) -> Values {
        Builder& body = *v[0].builder;
        const Value k = v[0], zero = ops::scalar(body, v[1].dtype(), 0),
                    positions = ops::iota(body, DType::i64, {n}, 0);
        const Values start{ops::scalar(body, DType::i64, 0), k};
        const Value column = ops::reshape(ops::dynamic_slice(v[2], start, {n, 1}), {n});
        const Value done = ops::reshape(ops::matmul(v[1], ops::reshape(ops::conj(row_of(v[1], k)), {n, 1})), {n});
        const Value rest = ops::sub(column, done);
        const Value diagonal = ops::sum_all(ops::select(ops::compare(positions, k, ops::Direction::eq), rest, zero));
        const Value root = ops::sqrt(real_part(diagonal));
        // A negative diagonal gives NaN in the real case; the complex root would be imaginary and must not pass for
        // one.
        const Value checked =
            is_complex(root.dtype())
                ? ops::select(ops::compare(ops::real(diagonal), ops::scalar(body, real_of(root.dtype()), 0),
                                           ops::Direction::gt),
                              root, ops::scalar(body, root.dtype(), NAN))
                : root;
        const Value filled = ops::select(ops::compare(positions, k, ops::Direction::ge),
                                         ops::div(rest, ops::broadcast_to(checked, {n})), zero);
        const Value here = ops::broadcast(ops::compare(positions, k, ops::Direction::eq), {n, n}, {1});
        return {ops::add(k, ops::scalar(body, DType::i64, 1)),
                ops::select(here, ops::broadcast(filled, {n, n}, {0}), v[1])};
      },
      n.constant());
  // A pivot that is not positive has no root, and NaN spreads from it to those behind.
  const Value diagonal = ops::reduce_sum(triangle(out[1], ops::Direction::eq), {1});
  const Value root = is_complex(diagonal.dtype()) ? ops::real(diagonal) : diagonal;
  refuse_where(ops::logical_not(ops::compare(root, ops::zeros_like(root), ops::Direction::gt)), "linalg.cholesky",
               "the matrix is not positive definite: the order of its first leading minor that is not positive");
  return {out[1]};
}

static Values cholesky_decompose(Builder&, const NoAttributes&, ValuesIn in) {
  return each_matrix(in, in[0].rank() - 2, cholesky_of_one);
}

/// The lower triangle of m, its diagonal halved.
static Value half_triangle(Value m) {
  const Value half = ops::full(*m.builder, m.dtype(), m.shape(), 0.5);
  return ops::add(triangle(m, ops::Direction::gt), ops::mul(triangle(m, ops::Direction::eq), half));
}
/// m L^-1 or, with the other mode, m L^-H.
static Value divided(Value m, Value l, Transpose adjoint_mode) {
  return adjoint(triangular_solve(l, adjoint(m), {.mode = adjoint_mode}));
}

// I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527: with P(M) the lower triangle of M, its
// diagonal halved, dL = L P(L^-1 dA L^-H). Only A's lower triangle is read; derivatives are those along Hermitian
// matrices, so that of a tangent the Hermitian part counts.
static Values cholesky_jvp(const JvpCall<NoAttributes>& c) {
  const Value l = c.out[0];
  const Value m = divided(triangular_solve(l, hermitian(c.tangent[0])), l, Transpose::none);
  return {ops::matmul(l, half_triangle(m))};
}

// The adjoint of that map: the Hermitian part of L^-H P(L^H Lbar) L^-1.
static Values cholesky_vjp(const VjpCall<NoAttributes>& c) {
  if (!c.cotangent[0]) return {Value{}};
  const Value l = c.out[0];
  const Value p = half_triangle(ops::matmul(adjoint(l), c.cotangent[0]));
  const Value left = triangular_solve(l, p, {.mode = Transpose::conjugate_transpose});
  return {hermitian(divided(left, l, Transpose::conjugate_transpose))};
}

extern const OpDef<NoAttributes> cholesky_op{
    .name = "linalg.cholesky",
    .doc =
        "The lower L of A = L L^H for each Hermitian positive definite A, whose lower triangle is read; zeros above. "
        "Where A is not positive definite, or an entry of that triangle is not finite: NumericalError. Derivatives are "
        "along Hermitian matrices. Source: LAPACK xPOTRF.",
    .operands = cholesky_operands,
    .constraints = cholesky_constraints,
    .infer = cholesky_infer,
    .meaning = Composite<NoAttributes>{cholesky_decompose},
    .vjp = Vjp<NoAttributes>{cholesky_vjp},
    .jvp = cholesky_jvp,
    .batch = factor_batch<NoAttributes>,
    .shard = Never{"a distributed factorization is ScaLAPACK's business"},
    .cost =
        [](const NoAttributes&, const Signature& s) {
          const Dim elements = s.tensor(0).numel();
          return Cost{floordiv(elements * s.shape(0).back(), 3), elements * (2 * bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      // Finite differences move single entries, which leaves the Hermitian matrices: tests/linalg moves along them.
      return {
          sample<NoAttributes>({SampleOperand(f64({5, 5}), Fill::positive_definite)}).within(1e-12).without_gradients(),
          sample<NoAttributes>({SampleOperand(f32({6, 6}), Fill::positive_definite)}).within(1e-5).without_gradients(),
          sample<NoAttributes>({SampleOperand(c128({4, 4}), Fill::positive_definite)})
              .within(1e-12)
              .without_gradients(),
          sample<NoAttributes>({{f64({2, 2}), {4, 2, 2, 5}}}).expects({{2, 0, 1, 2}}).exact().without_gradients(),
          sample<NoAttributes>({{f64({2, 2, 2}), {4, 2, 2, 5, 1, 3, 3, 13}}})
              .expects({{2, 0, 1, 2, 1, 0, 3, 2}})
              .exact()
              .without_gradients(),
          sample<NoAttributes>({SampleOperand(c128({1, 2, 3, 3}), Fill::positive_definite)})
              .within(1e-12)
              .without_gradients(),
          sample<NoAttributes>({f64({0, 0})}).without_gradients(),
          sample<NoAttributes>({f64({0, 2, 2})}).without_gradients(),
          sample<NoAttributes>({f64({2, 3})}).breaking("C1"),
          sample<NoAttributes>({f64({2, 2, 3})}).breaking("C1"),
          sample<NoAttributes>({f64({2})}).breaking("C1"),
          sample<NoAttributes>({i32({2, 2})}).breaking("dtype")};
    }};

}  // namespace rlx::linalg
