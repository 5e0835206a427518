#include "linalg/ops/dense.hpp"

namespace rlx::linalg {

using A = TransposeAttrs;
constexpr Operand cholesky_solve_operands[] = {{"factor", factorable}, {"b", factorable}};
constexpr Constraint<A> cholesky_solve_constraints[] = {
    {"C1", "factor is [..., n, n]", [](const A&, const Signature& s) { return is_square(s, 0); }},
    {"C2", "b is [..., n] or [..., n, k]", [](const A&, const Signature& s) { return is_right_side(s, 0, 1, true); }},
    {"C3", "both have one dtype", [](const A&, const Signature& s) { return one_dtype(s, {0, 1}); }}};

static Types cholesky_solve_infer(const A&, const Signature& s) { return {tensor(s.dtype(1), s.shape(1))}; }

// A = L L^H is its own adjoint; its transpose is its conjugate.
static Values cholesky_solve_decompose(Builder&, const A& a, ValuesIn in) {
  const bool conjugate = a.mode == Transpose::transpose && is_complex(in[0].dtype());
  const Value b = conjugate ? ops::conj(in[1]) : in[1];
  const Value x = triangular_solve(in[0], triangular_solve(in[0], b), {.mode = Transpose::conjugate_transpose});
  return {conjugate ? ops::conj(x) : x};
}

extern const OpDef<A> cholesky_solve_op{
    .name = "linalg.cholesky_solve",
    .doc =
        "x of op(A) x = b, where A = L L^H and L is the result of linalg.cholesky. A zero on L's diagonal, or an entry "
        "that is not finite, is a NumericalError. Source: LAPACK xPOTRS.",
    .operands = cholesky_solve_operands,
    .constraints = cholesky_solve_constraints,
    .infer = cholesky_solve_infer,
    .meaning = Composite<A>{cholesky_solve_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = solve_batch<A>,
    .shard = Never{"a distributed solve is ScaLAPACK's business"},
    .cost =
        [](const A&, const Signature& s) {
          const Dim n = s.shape(0).back();
          return Cost{n * s.tensor(1).numel() * 2,
                      (s.tensor(0).numel() + s.tensor(1).numel() * 2) * (bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<A>> {
      const SampleOperand l(f64({4, 4}), Fill::lower_triangular), z(c128({3, 3}), Fill::lower_triangular);
      return {
          sample<A>({l, f64({4})}).within(1e-12), sample<A>({l, f64({4, 2})}, {Transpose::transpose}).within(1e-12),
          sample<A>({z, c128({3})}, {Transpose::transpose}).within(1e-12), sample<A>({z, c128({3})}).within(1e-12),
          // [[4, 2], [2, 5]] x = (6, 7) has x = (1, 1).
          sample<A>({{f64({2, 2}), {2, 0, 1, 2}}, {f64({2}), {6, 7}}}).expects({{1, 1}}),
          sample<A>({SampleOperand(f64({2, 3, 3}), Fill::lower_triangular), f64({2, 3})}).within(1e-12),
          sample<A>({SampleOperand(c128({2, 2, 2}), Fill::lower_triangular), c128({2, 2, 2})}, {Transpose::transpose})
              .within(1e-12),
          sample<A>({f64({0, 0}), f64({0})}).without_gradients(), sample<A>({f64({2, 3}), f64({2})}).breaking("C1"),
          sample<A>({f64({2, 2}), f64({3})}).breaking("C2"), sample<A>({f64({3, 2, 2}), f64({2})}).breaking("C2"),
          sample<A>({f64({2, 2}), f32({2})}).breaking("C3")};
    }};

}  // namespace rlx::linalg
