#include "linalg/ops/dense.hpp"

namespace rlx::linalg {

using A = TransposeAttrs;

extern const OpDef<A> solve_op{
    .name = "linalg.solve",
    .doc =
        "x of op(A) x = b by LU with partial pivoting. A matrix that is singular, or has an entry that is not finite, "
        "is "
        "a NumericalError. Derivatives solve with the same factors. Source: LAPACK xGESV.",
    .operands = DenseSolve<A>::operands,
    .constraints = DenseSolve<A>::constraints,
    .infer = DenseSolve<A>::infer,
    .meaning = Composite<A>{[](Builder&, const A& a, ValuesIn in) -> Values {
      return {solve_by_lu(lu(in[0]), in[0], in[1], a.mode)};
    }},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = solve_batch<A>,
    .shard = Never{"a distributed solve is ScaLAPACK's business"},
    .cost =
        [](const A&, const Signature& s) {
          const Dim elements = s.tensor(0).numel(), n = s.shape(0).back();
          return Cost{floordiv(elements * n * 2, 3) + n * s.tensor(1).numel() * 2,
                      (elements + s.tensor(1).numel() * 2) * (bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<A>> {
      const SampleOperand a(f64({4, 4}), Fill::well_conditioned), z(c128({3, 3}), Fill::well_conditioned),
          many(f64({2, 3, 3}), Fill::well_conditioned), nested(c128({1, 2, 2, 2}), Fill::well_conditioned);
      return {
          sample<A>({a, f64({4})}).within(1e-12), sample<A>({a, f64({4, 2})}, {Transpose::transpose}).within(1e-12),
          sample<A>({z, c128({3})}, {Transpose::conjugate_transpose}).within(1e-12),
          sample<A>({z, c128({3, 2})}, {Transpose::transpose}).within(1e-12),
          sample<A>({z, c128({3, 2})}).within(1e-12),
          sample<A>({SampleOperand(f32({5, 5}), Fill::well_conditioned), f32({5})}).within(1e-5),
          sample<A>({many, f64({2, 3})}).within(1e-12),
          sample<A>({many, f64({2, 3, 2})}, {Transpose::transpose}).within(1e-12),
          sample<A>({nested, c128({1, 2, 2, 2})}, {Transpose::conjugate_transpose}).within(1e-12),
          // Both rows of the first matrix exchange their places, those of the second do not.
          sample<A>({{f64({2, 2, 2}), {1, 2, 4, 6, 2, 0, 0, 4}}, {f64({2, 2}), {3, 10, 2, 4}}}).expects({{1, 1, 1, 1}}),
          sample<A>({f64({0, 0}), f64({0, 2})}).without_gradients(),
          sample<A>({f64({0, 2, 2}), f64({0, 2})}).without_gradients(),
          sample<A>({f64({2, 3}), f64({2})}).breaking("C1"), sample<A>({f64({2, 2}), f64({3})}).breaking("C2"),
          sample<A>({f64({3, 2, 2}), f64({2, 2})}).breaking("C2"), sample<A>({f64({2, 2}), f32({2})}).breaking("C3")};
    }};

}  // namespace rlx::linalg
