#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr Operand cholesky_operands[] = {{"a", factorable}};
constexpr Constraint<NoAttributes> cholesky_constraints[] = {
    {"C1", "a is a square matrix", [](const NoAttributes&, const Signature& s) { return is_square(s, 0); }}};

static Types cholesky_infer(const NoAttributes&, const Signature& s) { return {tensor(s.dtype(0), s.shape(0))}; }

static Value real_part(Value x) {
  return is_complex(x.dtype()) ? ops::complex(ops::real(x), ops::zeros_like(ops::real(x))) : x;
}

// Left-looking, a column a trip: column k of A less what the columns before it give, divided by the root of its
// diagonal.
static Values cholesky_decompose(Builder& b, const NoAttributes&, ValuesIn in) {
  const Dim n = in[0].shape()[0];
  if (n == 0) return {in[0]};
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
  return {out[1]};
}

// I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527: with P(M) the lower triangle of M, its
// diagonal halved, the cotangent of A is L^-H P(L^H Lbar) L^-1. Only A's lower triangle is read; as A is Hermitian the
// cotangent is given in that form, (S + S^H) / 2.
static Values cholesky_vjp(const VjpCall<NoAttributes>& c) {
  if (!c.cotangent[0]) return {Value{}};
  const Value l = c.out[0];
  const auto adjoint = [](Value m) { return ops::conj(ops::transpose(m, {1, 0})); };
  const Value row = ops::iota(c.b, DType::i32, l.shape(), 0), column = ops::iota(c.b, DType::i32, l.shape(), 1);
  const Value weight =
      ops::select(ops::compare(row, column, ops::Direction::gt), ops::full(c.b, l.dtype(), l.shape(), 1),
                  ops::select(ops::compare(row, column, ops::Direction::eq), ops::full(c.b, l.dtype(), l.shape(), 0.5),
                              ops::full(c.b, l.dtype(), l.shape(), 0)));
  const Value p = ops::mul(ops::matmul(adjoint(l), c.cotangent[0]), weight);
  const Value left = triangular_solve(l, p, {.mode = Transpose::conjugate_transpose});
  const Value s = adjoint(triangular_solve(l, adjoint(left), {.mode = Transpose::conjugate_transpose}));
  return {ops::mul(ops::add(s, adjoint(s)), ops::full(c.b, l.dtype(), l.shape(), 0.5))};
}

extern const OpDef<NoAttributes> cholesky_op{
    .name = "linalg.cholesky",
    .doc =
        "The lower L of A = L L^H for a Hermitian positive definite A, whose lower triangle is read; zeros above. "
        "Where A "
        "is not positive definite the result holds NaN, or a library raises NumericalError. Source: LAPACK xPOTRF.",
    .operands = cholesky_operands,
    .constraints = cholesky_constraints,
    .infer = cholesky_infer,
    .meaning = Composite<NoAttributes>{cholesky_decompose},
    .vjp = Vjp<NoAttributes>{cholesky_vjp},
    .jvp = Derived{},
    .batch = Never{"factor the matrices of a batch one by one"},
    .shard = Never{"a distributed factorization is ScaLAPACK's business"},
    .cost =
        [](const NoAttributes&, const Signature& s) {
          const Dim n = s.tensor(0).dim(0);
          return Cost{floordiv(n * n * n, 3), n * n * (2 * bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      // Finite differences move single entries, which leaves the Hermitian matrices: adjointness is checked through
      // solves.
      return {
          sample<NoAttributes>({SampleOperand(f64({5, 5}), Fill::positive_definite)}).within(1e-12).without_gradients(),
          sample<NoAttributes>({SampleOperand(f32({6, 6}), Fill::positive_definite)}).within(1e-5).without_gradients(),
          sample<NoAttributes>({SampleOperand(c128({4, 4}), Fill::positive_definite)})
              .within(1e-12)
              .without_gradients(),
          sample<NoAttributes>({{f64({2, 2}), {4, 2, 2, 5}}}).expects({{2, 0, 1, 2}}).exact().without_gradients(),
          sample<NoAttributes>({f64({0, 0})}).without_gradients(),
          sample<NoAttributes>({f64({2, 3})}).breaking("C1"),
          sample<NoAttributes>({i32({2, 2})}).breaking("dtype")};
    }};

}  // namespace rlx::linalg
