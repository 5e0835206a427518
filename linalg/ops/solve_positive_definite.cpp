#include "linalg/ops/dense.hpp"

namespace rlx::linalg {

using A = NoAttributes;

extern const OpDef<A> solve_positive_definite_op{
    .name = "linalg.solve_positive_definite",
    .doc =
        "x of A x = b by the Cholesky factorization of a Hermitian positive definite A, whose lower triangle is read. "
        "Where A is not positive definite, or an entry of that triangle is not finite: NumericalError. Derivatives "
        "solve "
        "with the same factor, along Hermitian matrices. Source: LAPACK xPOSV.",
    .operands = DenseSolve<A>::operands,
    .constraints = DenseSolve<A>::constraints,
    .infer = DenseSolve<A>::infer,
    .meaning = Composite<A>{[](Builder&, const A&, ValuesIn in) -> Values {
      return {solve_by_cholesky(cholesky(in[0]), in[0], in[1])};
    }},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = solve_batch<A>,
    .shard = Never{"a distributed solve is ScaLAPACK's business"},
    .cost =
        [](const A&, const Signature& s) {
          const Dim elements = s.tensor(0).numel(), n = s.shape(0).back();
          return Cost{floordiv(elements * n, 3) + n * s.tensor(1).numel() * 2,
                      (elements + s.tensor(1).numel() * 2) * (bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<A>> {
      // Finite differences move single entries, which leaves the Hermitian matrices: tests/linalg moves along them.
      const auto matrices = [](TensorType t) {
        SampleOperand o(Type(std::move(t)), Fill::positive_definite);
        o.differentiable = false;
        return o;
      };
      return {sample<A>({matrices(f64({4, 4})), f64({4})}).within(1e-12),
              sample<A>({matrices(f64({4, 4})), f64({4, 2})}).within(1e-12),
              sample<A>({matrices(c128({3, 3})), c128({3})}).within(1e-12),
              sample<A>({matrices(f32({5, 5})), f32({5})}).within(1e-4),
              sample<A>({matrices(f64({2, 3, 3})), f64({2, 3})}).within(1e-12),
              sample<A>({matrices(c128({1, 2, 2, 2})), c128({1, 2, 2, 2})}).within(1e-12),
              sample<A>({{f64({2, 2}), {4, 2, 2, 5}}, {f64({2}), {6, 7}}}).expects({{1, 1}}).without_gradients(),
              sample<A>({f64({0, 0}), f64({0, 2})}).without_gradients(),
              sample<A>({f64({0, 2, 2}), f64({0, 2})}).without_gradients(),
              sample<A>({f64({2, 3}), f64({2})}).breaking("C1"),
              sample<A>({f64({2, 2}), f64({3})}).breaking("C2"),
              sample<A>({f64({3, 2, 2}), f64({2, 2})}).breaking("C2"),
              sample<A>({f64({2, 2}), f32({2})}).breaking("C3")};
    }};

}  // namespace rlx::linalg
