#include "linalg/ops/dense.hpp"

namespace rlx::linalg {

using A = TransposeAttrs;
constexpr Operand lu_solve_operands[] = {{"factors", factorable}, {"rows", DTypeSet{DType::i32}}, {"b", factorable}};
constexpr Constraint<A> lu_solve_constraints[] = {
    {"C1", "factors is [..., n, n]", [](const A&, const Signature& s) { return is_square(s, 0); }},
    {"C2", "rows is [..., n]", [](const A&, const Signature& s) { return is_right_side(s, 0, 1, false); }},
    {"C3", "b is [..., n] or [..., n, k]", [](const A&, const Signature& s) { return is_right_side(s, 0, 2, true); }},
    {"C4", "factors and b have one dtype", [](const A&, const Signature& s) { return one_dtype(s, {0, 2}); }}};

static Types lu_solve_infer(const A&, const Signature& s) { return {tensor(s.dtype(2), s.shape(2))}; }

// A[rows] = L U. Transposed: U^T y = b, L^T z = y, and x[rows] = z.
static Values lu_solve_decompose(Builder&, const A& a, ValuesIn in) {
  const Value f = in[0], rows = in[1];
  if (f.shape().back() == 0) return {in[2]};
  const TriangularSolveAttrs lower{.lower = true, .unit_diagonal = true, .mode = a.mode},
      upper{.lower = false, .mode = a.mode};
  if (a.mode == Transpose::none)
    return {triangular_solve(f, triangular_solve(f, take_rows(in[2], rows), lower), upper)};
  return {put_rows(triangular_solve(f, triangular_solve(f, in[2], upper), lower), rows)};
}

extern const OpDef<A> lu_solve_op{
    .name = "linalg.lu_solve",
    .doc =
        "x of op(A) x = b from the factors and rows of linalg.lu. A zero on U's diagonal, or a factor that is not "
        "finite, is a NumericalError. Source: LAPACK xGETRS.",
    .operands = lu_solve_operands,
    .constraints = lu_solve_constraints,
    .infer = lu_solve_infer,
    .meaning = Composite<A>{lu_solve_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = solve_batch<A>,
    .shard = Never{"a distributed solve is ScaLAPACK's business"},
    .cost =
        [](const A&, const Signature& s) {
          const Dim n = s.shape(0).back();
          return Cost{n * s.tensor(2).numel() * 2,
                      (s.tensor(0).numel() + s.tensor(2).numel() * 2) * (bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<A>> {
      const SampleOperand f(f64({4, 4}), Fill::well_conditioned), rows(i32({4}), Fill::permutation),
          z(c128({3, 3}), Fill::well_conditioned), rows3(i32({3}), Fill::permutation);
      return {sample<A>({f, rows, f64({4})}).within(1e-12),
              sample<A>({f, rows, f64({4, 2})}, {Transpose::transpose}).within(1e-12),
              sample<A>({z, rows3, c128({3})}, {Transpose::conjugate_transpose}).within(1e-12),
              // [[1, 2], [4, 6]] x = (3, 10) has x = (1, 1).
              sample<A>({{f64({2, 2}), {4, 6, 0.25, 0.5}}, {i32({2}), {1, 0}}, {f64({2}), {3, 10}}}).expects({{1, 1}}),
              sample<A>({SampleOperand(f64({2, 3, 3}), Fill::well_conditioned),
                         SampleOperand(i32({2, 3}), Fill::permutation), f64({2, 3, 2})})
                  .within(1e-12),
              sample<A>({SampleOperand(c128({2, 3, 3}), Fill::well_conditioned),
                         SampleOperand(i32({2, 3}), Fill::permutation), c128({2, 3})},
                        {Transpose::transpose})
                  .within(1e-12),
              sample<A>({f64({0, 0}), i32({0}), f64({0})}).without_gradients(),
              sample<A>({f64({2, 3}), i32({2}), f64({2})}).breaking("C1"),
              sample<A>({f64({2, 2}), i32({3}), f64({2})}).breaking("C2"),
              sample<A>({f64({2, 2}), i32({2}), f64({3})}).breaking("C3"),
              sample<A>({f64({3, 2, 2}), i32({2}), f64({3, 2})}).breaking("C2"),
              sample<A>({f64({2, 2}), i32({2}), f32({2})}).breaking("C4")};
    }};

}  // namespace rlx::linalg
