#include "linalg/ops/dense.hpp"

namespace rlx::linalg {

using A = NoAttributes;
constexpr Operand solve_by_cholesky_operands[] = {{"factor", factorable}, {"a", factorable}, {"b", factorable}};
constexpr Constraint<A> solve_by_cholesky_constraints[] = {
    {"C1", "a is [..., n, n]", [](const A&, const Signature& s) { return is_square(s, 1); }},
    {"C2", "factor is like a", [](const A&, const Signature& s) { return s.same_shape(s.shape(0), s.shape(1)); }},
    {"C3", "b is [..., n] or [..., n, k]", [](const A&, const Signature& s) { return is_right_side(s, 1, 2, true); }},
    {"C4", "all have one dtype", [](const A&, const Signature& s) { return one_dtype(s, {0, 1, 2}); }}};

static Types solve_by_cholesky_infer(const A&, const Signature& s) { return {tensor(s.dtype(2), s.shape(2))}; }

// A is its own adjoint; its cotangent is given in the Hermitian form, as that of linalg.cholesky.
static Values solve_by_cholesky_vjp(const VjpCall<A>& c) {
  Values out(3);
  if (!c.cotangent[0] || !(c.wanted[1] || c.wanted[2])) return out;
  const Value w = solve_by_cholesky(c.in[0], c.in[1], c.cotangent[0]);
  if (c.wanted[2]) out[2] = w;
  if (c.wanted[1]) out[1] = hermitian(matrix_cotangent(c.in[1], Transpose::none, w, c.out[0]));
  return out;
}

static Values solve_by_cholesky_jvp(const JvpCall<A>& c) {
  const Value moved = c.tangent[1] ? hermitian(c.tangent[1]) : Value{};
  const Value right = tangent_right_side(Transpose::none, moved, c.tangent[2], c.out[0]);
  return {right ? solve_by_cholesky(c.in[0], c.in[1], right) : Value{}};
}

extern const OpDef<A> solve_by_cholesky_op{
    .name = "linalg.solve_by_cholesky",
    .doc =
        "x of A x = b from the factor that linalg.cholesky gave for this a. Unlike linalg.cholesky_solve it "
        "differentiates with respect to a, along Hermitian matrices, and b, by solves with the same factor, which is a "
        "constant to derivatives.",
    .operands = solve_by_cholesky_operands,
    .constraints = solve_by_cholesky_constraints,
    .infer = solve_by_cholesky_infer,
    .meaning = Composite<A>{[](Builder&, const A&, ValuesIn in) -> Values { return {cholesky_solve(in[0], in[2])}; }},
    .vjp = Vjp<A>{solve_by_cholesky_vjp},
    .jvp = solve_by_cholesky_jvp,
    .batch = solve_batch<A>,
    .shard = Never{"a distributed solve is ScaLAPACK's business"},
    .cost =
        [](const A&, const Signature& s) {
          return Cost{s.shape(0).back() * s.tensor(2).numel() * 2,
                      (s.tensor(0).numel() + s.tensor(2).numel() * 2) * (bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<A>> {
      // The value does not move with a alone: tests/linalg differentiates linalg.solve_positive_definite.
      const auto constant = [](TensorType t, Fill fill) {
        SampleOperand o(Type(std::move(t)), fill);
        o.differentiable = false;
        return o;
      };
      const SampleOperand l = constant(f64({4, 4}), Fill::lower_triangular),
                          a = constant(f64({4, 4}), Fill::positive_definite),
                          lz = constant(c128({2, 3, 3}), Fill::lower_triangular),
                          z = constant(c128({2, 3, 3}), Fill::positive_definite);
      return {sample<A>({l, a, f64({4})}).within(1e-12),
              sample<A>({l, a, f64({4, 2})}).within(1e-12),
              sample<A>({lz, z, c128({2, 3})}).within(1e-12),
              sample<A>({lz, z, c128({2, 3, 2})}).within(1e-12),
              sample<A>({{f64({2, 2}), {2, 0, 1, 2}}, {f64({2, 2}), {4, 2, 2, 5}}, {f64({2}), {6, 7}}})
                  .expects({{1, 1}})
                  .without_gradients(),
              sample<A>({f64({0, 0}), f64({0, 0}), f64({0})}).without_gradients(),
              sample<A>({f64({2, 3}), f64({2, 3}), f64({2})}).breaking("C1"),
              sample<A>({f64({3, 3}), f64({2, 2}), f64({2})}).breaking("C2"),
              sample<A>({f64({2, 2}), f64({2, 2}), f64({3})}).breaking("C3"),
              sample<A>({f64({2, 2}), f64({2, 2}), f32({2})}).breaking("C4")};
    }};

}  // namespace rlx::linalg
