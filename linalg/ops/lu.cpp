#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr Operand lu_operands[] = {{"a", factorable}};
constexpr Constraint<NoAttributes> lu_constraints[] = {
    {"C1", "a is a square matrix", [](const NoAttributes&, const Signature& s) { return is_square(s, 0); }}};

static Types lu_infer(const NoAttributes&, const Signature& s) {
  return {tensor(s.dtype(0), s.shape(0)), i32({s.tensor(0).dim(0)})};
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

static Values lu_decompose(Builder& b, const NoAttributes&, ValuesIn in) {
  const Dim n = in[0].shape()[0];
  const Value rows = ops::iota(b, DType::i32, {n}, 0);
  if (n == 0) return {in[0], rows};
  const Values state{ops::scalar(b, DType::i64, 0), in[0], rows};
  const Value order = ops::constant(b, HostTensor::scalar_i64(DType::i64, n.constant()));
  const Values invariants{order};
  const Values out = ops::while_(
      state, invariants, [](ValuesIn v) -> Values { return {ops::compare(v[0], v[3], ops::Direction::lt)}; },
      [](ValuesIn v) { return lu_step(v[0], v[1], v[2]); }, n.constant());
  return {out[1], out[2]};
}

static Value triangle(Value m, ops::Direction keep) {
  Builder& b = *m.builder;
  const Value row = ops::iota(b, DType::i32, m.shape(), 0), column = ops::iota(b, DType::i32, m.shape(), 1);
  return ops::select(ops::compare(row, column, keep), m, ops::scalar(b, m.dtype(), 0));
}

// P A = L U, so with M = L^-1 P dA U^-1: dL = L tril(M, -1), dU = triu(M) U; the adjoint of that map.
static Values lu_vjp(const VjpCall<NoAttributes>& c) {
  if (!c.cotangent[0]) return {Value{}};
  const Value f = c.out[0];
  const Dim n = f.shape()[0];
  const Value unit = ops::convert(
      ops::compare(ops::iota(c.b, DType::i32, {n, n}, 0), ops::iota(c.b, DType::i32, {n, n}, 1), ops::Direction::eq),
      f.dtype());
  const Value lower = ops::add(triangle(f, ops::Direction::gt), unit), upper = triangle(f, ops::Direction::le);
  const auto adjoint = [](Value m) { return ops::conj(ops::transpose(m, {1, 0})); };
  const Value left =
      triangle(ops::matmul(adjoint(lower), triangle(c.cotangent[0], ops::Direction::gt)), ops::Direction::gt);
  const Value right =
      triangle(ops::matmul(triangle(c.cotangent[0], ops::Direction::le), adjoint(upper)), ops::Direction::le);
  const Value solved = triangular_solve(f, ops::add(left, right),
                                        {.lower = true, .unit_diagonal = true, .mode = Transpose::conjugate_transpose});
  // Right multiplication by U^-H is a left solve with U of the adjoint.
  const Value permuted = adjoint(triangular_solve(f, adjoint(solved), {.lower = false}));
  const Value index = ops::reshape(c.out[1], {n, 1});
  return {ops::scatter(ops::zeros_like(permuted), index, permuted,
                       ops::ScatterAttrs{.update_window_dims = {1},
                                         .inserted_window_dims = {0},
                                         .scatter_dims_to_operand_dims = {0},
                                         .index_vector_dim = 1})};
}

extern const OpDef<NoAttributes> lu_op{
    .name = "linalg.lu",
    .doc =
        "LU factorization with partial pivoting: A[rows] = L U, L (unit) below the diagonal of the result, U on and "
        "above. "
        "A singular matrix leaves a zero on U's diagonal. Source: LAPACK xGETRF.",
    .operands = lu_operands,
    .constraints = lu_constraints,
    .infer = lu_infer,
    .meaning = Composite<NoAttributes>{lu_decompose},
    .vjp = Vjp<NoAttributes>{lu_vjp},
    .jvp =
        Never{"forward mode through a pivoted factorization: differentiate linalg.lu_solve's caller by reverse mode"},
    .batch = Never{"factor the matrices of a batch one by one"},
    .shard = Never{"a distributed factorization is ScaLAPACK's business"},
    .cost =
        [](const NoAttributes&, const Signature& s) {
          const Dim n = s.tensor(0).dim(0);
          return Cost{floordiv(n * n * n * 2, 3), n * n * (2 * bit_width(s.dtype(0)) / 8)};
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
              sample<NoAttributes>({f64({0, 0})}).without_gradients(),
              sample<NoAttributes>({f64({2, 3})}).breaking("C1"),
              sample<NoAttributes>({i32({2, 2})}).breaking("dtype")};
    }};

}  // namespace rlx::linalg
