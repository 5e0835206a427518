#include "linalg/ops/dense.hpp"

namespace rlx::linalg {

constexpr Operand lu_operands[] = {{"a", factorable}};
constexpr Constraint<NoAttributes> lu_constraints[] = {
    {"C1", "a is [..., n, n]", [](const NoAttributes&, const Signature& s) { return is_square(s, 0); }}};

static Types lu_infer(const NoAttributes&, const Signature& s) {
  return {tensor(s.dtype(0), s.shape(0)), i32(Shape(s.shape(0).begin(), s.shape(0).end() - 1))};
}

// One step of right-looking elimination: exchange rows so that the largest entry of column k leads, divide, subtract
// the outer product. A column without a nonzero entry stays as it is, as in xGETRF.
static Values lu_step(Value k, Value a, Value rows) {
  Builder& b = *a.builder;
  const Dim n = a.shape()[0];
  const Value positions = ops::iota(b, DType::i64, {n}, 0);
  const auto column = [&](Value m) {
    const Values start{ops::scalar(b, DType::i64, 0), k};
    return ops::reshape(ops::dynamic_slice(m, start, {n, 1}), {n});
  };
  const Value candidates = ops::compare(positions, k, ops::Direction::ge);
  const Value size = ops::select(candidates, ops::abs(column(a)), ops::scalar(b, real_of(a.dtype()), -1));
  const Value pivot_row = ops::arg_reduce(size, 0, ops::Extremum::max, DType::i64);
  const Value order = ops::select(ops::compare(positions, k, ops::Direction::eq), pivot_row,
                                  ops::select(ops::compare(positions, pivot_row, ops::Direction::eq), k, positions));
  const Value swapped = ops::take(a, order, 0);
  const Value below = ops::compare(positions, k, ops::Direction::gt);
  const Value zero = ops::scalar(b, a.dtype(), 0);
  const Value pivot_line = row_of(swapped, k);
  const Value pivot = ops::sum_all(ops::select(ops::compare(positions, k, ops::Direction::eq), pivot_line, zero));
  const Value singular = ops::compare(pivot, zero, ops::Direction::eq);
  const Value divisor = ops::select(singular, ops::scalar(b, a.dtype(), 1), pivot);
  const Value multipliers = ops::select(below, ops::div(column(swapped), divisor), zero);
  const Value line = ops::select(below, pivot_line, zero);
  const Value outer = ops::mul(ops::reshape(multipliers, {n, 1}), ops::reshape(line, {1, n}));
  const Value eliminated = ops::sub(swapped, outer);
  // Below the diagonal, column k now holds the multipliers.
  const Value in_column = ops::broadcast(ops::compare(positions, k, ops::Direction::eq), {n, n}, {1});
  const Value lower = ops::broadcast(below, {n, n}, {0});
  const Value next =
      ops::select(ops::logical_and(in_column, lower), ops::broadcast(multipliers, {n, n}, {0}), eliminated);
  return {ops::add(k, ops::scalar(b, DType::i64, 1)), next, ops::take(rows, order, 0)};
}

static Values lu_of_one(ValuesIn in) {
  Builder& b = *in[0].builder;
  const Dim n = in[0].shape()[0];
  const Value rows = ops::iota(b, DType::i32, {n}, 0);
  if (n == 0) return {in[0], rows};
  refuse_not_finite(in[0], "linalg.lu");
  const Values state{ops::scalar(b, DType::i64, 0), in[0], rows};
  const Value order = ops::constant(b, HostTensor::scalar_i64(DType::i64, n.constant()));
  const Values invariants{order};
  const Values out = ops::while_(
      state, invariants, [](ValuesIn v) -> Values { return {ops::compare(v[0], v[3], ops::Direction::lt)}; },
      [](ValuesIn v) { return lu_step(v[0], v[1], v[2]); }, n.constant());
  return {out[1], out[2]};
}

static Values lu_decompose(Builder&, const NoAttributes&, ValuesIn in) {
  return each_matrix(in, in[0].rank() - 2, lu_of_one);
}

static Value strictly_lower(Value m) { return triangle(m, ops::Direction::gt); }
static Value upper(Value m) { return triangle(m, ops::Direction::le); }
static Value unit_lower(Value factors) {
  return ops::add(strictly_lower(factors),
                  triangle(ops::full(*factors.builder, factors.dtype(), factors.shape(), 1), ops::Direction::eq));
}
/// m U^-1; U^-H is applied from the left to the adjoint.
static Value divided_by_upper(Value m, Value factors) {
  return adjoint(triangular_solve(factors, adjoint(m), {.lower = false, .mode = Transpose::conjugate_transpose}));
}

// P A = L U, so with M = L^-1 P dA U^-1: dL = L tril(M, -1), dU = triu(M) U (S. F. Walter, L. Lehmann, "Algorithmic
// differentiation of linear algebra functions with application in optimum experimental design", arXiv:1001.1654).
static Values lu_jvp(const JvpCall<NoAttributes>& c) {
  const Value f = c.out[0], moved = take_rows(c.tangent[0], c.out[1]);
  const Value m = divided_by_upper(triangular_solve(f, moved, {.lower = true, .unit_diagonal = true}), f);
  return {ops::add(ops::matmul(unit_lower(f), strictly_lower(m)), ops::matmul(upper(m), upper(f))), Value{}};
}

// The adjoint of that map.
static Values lu_vjp(const VjpCall<NoAttributes>& c) {
  if (!c.cotangent[0]) return {Value{}};
  const Value f = c.out[0];
  const Value left = strictly_lower(ops::matmul(adjoint(unit_lower(f)), strictly_lower(c.cotangent[0])));
  const Value right = upper(ops::matmul(upper(c.cotangent[0]), adjoint(upper(f))));
  const Value solved = triangular_solve(f, ops::add(left, right),
                                        {.lower = true, .unit_diagonal = true, .mode = Transpose::conjugate_transpose});
  // Right multiplication by U^-H is a left solve with U of the adjoint.
  return {put_rows(adjoint(triangular_solve(f, adjoint(solved), {.lower = false})), c.out[1])};
}

extern const OpDef<NoAttributes> lu_op{
    .name = "linalg.lu",
    .doc =
        "LU factorization of each matrix with partial pivoting: A[rows] = L U, L (unit) below the diagonal of the "
        "result, U on and above. A singular matrix leaves a zero on U's diagonal; one with an entry that is not finite "
        "is a NumericalError. Source: LAPACK xGETRF.",
    .operands = lu_operands,
    .constraints = lu_constraints,
    .infer = lu_infer,
    .meaning = Composite<NoAttributes>{lu_decompose},
    .vjp = Vjp<NoAttributes>{lu_vjp},
    .jvp = lu_jvp,
    .batch = factor_batch<NoAttributes>,
    .shard = Never{"a distributed factorization is ScaLAPACK's business"},
    .cost =
        [](const NoAttributes&, const Signature& s) {
          const Dim elements = s.tensor(0).numel();
          return Cost{floordiv(elements * s.shape(0).back() * 2, 3), elements * (2 * bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      return {sample<NoAttributes>({SampleOperand(f64({5, 5}), Fill::well_conditioned)}).within(1e-12),
              sample<NoAttributes>({f32({6, 6})}).within(1e-4),
              sample<NoAttributes>({SampleOperand(c128({4, 4}), Fill::well_conditioned)}).within(1e-12),
              sample<NoAttributes>({{f64({2, 2}), {1, 2, 4, 6}}}).expects({{4, 6, 0.25, 0.5}, {1, 0}}).exact(),
              sample<NoAttributes>({{f64({2, 2}), {0, 0, 0, 3}}})
                  .expects({{0, 0, 0, 3}, {0, 1}})
                  .exact()
                  .without_gradients(),
              sample<NoAttributes>({f64({1, 1})}),
              sample<NoAttributes>({SampleOperand(f64({2, 3, 3}), Fill::well_conditioned)}).within(1e-12),
              sample<NoAttributes>({SampleOperand(c128({1, 2, 2, 2}), Fill::well_conditioned)}).within(1e-12),
              sample<NoAttributes>({{f64({2, 2, 2}), {1, 2, 4, 6, 2, 1, 1, 1}}})
                  .expects({{4, 6, 0.25, 0.5, 2, 1, 0.5, 0.5}, {1, 0, 0, 1}})
                  .exact(),
              sample<NoAttributes>({f64({0, 0})}).without_gradients(),
              sample<NoAttributes>({f64({0, 2, 2})}).without_gradients(),
              sample<NoAttributes>({f64({2, 3})}).breaking("C1"),
              sample<NoAttributes>({f64({2, 2, 3})}).breaking("C1"),
              sample<NoAttributes>({f64({2})}).breaking("C1"),
              sample<NoAttributes>({i32({2, 2})}).breaking("dtype")};
    }};

}  // namespace rlx::linalg
