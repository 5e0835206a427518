#include "linalg/ops/dense.hpp"

namespace rlx::linalg {

using A = TransposeAttrs;
constexpr Operand solve_by_lu_operands[] = {
    {"factors", factorable}, {"rows", DTypeSet{DType::i32}}, {"a", factorable}, {"b", factorable}};
constexpr Constraint<A> solve_by_lu_constraints[] = {
    {"C1", "a is [..., n, n]", [](const A&, const Signature& s) { return is_square(s, 2); }},
    {"C2", "factors is like a", [](const A&, const Signature& s) { return s.same_shape(s.shape(0), s.shape(2)); }},
    {"C3", "rows is [..., n]", [](const A&, const Signature& s) { return is_right_side(s, 2, 1, false); }},
    {"C4", "b is [..., n] or [..., n, k]", [](const A&, const Signature& s) { return is_right_side(s, 2, 3, true); }},
    {"C5", "factors, a and b have one dtype", [](const A&, const Signature& s) { return one_dtype(s, {0, 2, 3}); }}};

static Types solve_by_lu_infer(const A&, const Signature& s) { return {tensor(s.dtype(3), s.shape(3))}; }

// The adjoint of the solve is one with the same factors; nothing flows through them, as a answers for itself.
static Values solve_by_lu_vjp(const VjpCall<A>& c) {
  Values out(4);
  if (!c.cotangent[0] || !(c.wanted[2] || c.wanted[3])) return out;
  const Value w = adjoint_solve(c.attrs.mode, c.cotangent[0], [&](Value right, Transpose mode) {
    return solve_by_lu({c.in[0], c.in[1]}, c.in[2], right, mode);
  });
  if (c.wanted[3]) out[3] = w;
  if (c.wanted[2]) out[2] = matrix_cotangent(c.in[2], c.attrs.mode, w, c.out[0]);
  return out;
}

static Values solve_by_lu_jvp(const JvpCall<A>& c) {
  const Value right = tangent_right_side(c.attrs.mode, c.tangent[2], c.tangent[3], c.out[0]);
  return {right ? solve_by_lu({c.in[0], c.in[1]}, c.in[2], right, c.attrs.mode) : Value{}};
}

extern const OpDef<A> solve_by_lu_op{
    .name = "linalg.solve_by_lu",
    .doc =
        "x of op(A) x = b from the factors and rows that linalg.lu gave for this a. Unlike linalg.lu_solve it "
        "differentiates with respect to a and b, by solves with the same factors, which are constants to derivatives.",
    .operands = solve_by_lu_operands,
    .constraints = solve_by_lu_constraints,
    .infer = solve_by_lu_infer,
    .meaning = Composite<A>{[](Builder&, const A& a, ValuesIn in) -> Values {
      return {lu_solve({in[0], in[1]}, in[3], a.mode)};
    }},
    .vjp = Vjp<A>{solve_by_lu_vjp},
    .jvp = solve_by_lu_jvp,
    .batch = solve_batch<A>,
    .shard = Never{"a distributed solve is ScaLAPACK's business"},
    .cost =
        [](const A&, const Signature& s) {
          return Cost{s.shape(0).back() * s.tensor(3).numel() * 2,
                      (s.tensor(0).numel() + s.tensor(3).numel() * 2) * (bit_width(s.dtype(0)) / 8)};
        },
    .samples = []() -> std::vector<Sample<A>> {
      // The value does not move with a alone: linalg.solve has the differences with respect to it.
      const auto matrices = [](TensorType t) {
        SampleOperand o(Type(std::move(t)), Fill::well_conditioned);
        o.differentiable = false;
        return o;
      };
      const SampleOperand a = matrices(f64({4, 4})), rows(i32({4}), Fill::permutation), z = matrices(c128({2, 3, 3})),
                          rows3(i32({2, 3}), Fill::permutation);
      return {
          sample<A>({a, rows, a, f64({4})}).within(1e-12),
          sample<A>({a, rows, a, f64({4, 2})}, {Transpose::transpose}).within(1e-12),
          sample<A>({z, rows3, z, c128({2, 3})}, {Transpose::conjugate_transpose}).within(1e-12),
          sample<A>({z, rows3, z, c128({2, 3, 2})}, {Transpose::transpose}).within(1e-12),
          sample<A>(
              {{f64({2, 2}), {4, 6, 0.25, 0.5}}, {i32({2}), {1, 0}}, {f64({2, 2}), {1, 2, 4, 6}}, {f64({2}), {3, 10}}})
              .expects({{1, 1}})
              .without_gradients(),
          sample<A>({f64({0, 0}), i32({0}), f64({0, 0}), f64({0})}).without_gradients(),
          sample<A>({f64({2, 3}), i32({2}), f64({2, 3}), f64({2})}).breaking("C1"),
          sample<A>({f64({3, 3}), i32({2}), f64({2, 2}), f64({2})}).breaking("C2"),
          sample<A>({f64({2, 2}), i32({3}), f64({2, 2}), f64({2})}).breaking("C3"),
          sample<A>({f64({2, 2}), i32({2}), f64({2, 2}), f64({3})}).breaking("C4"),
          sample<A>({f64({2, 2}), i32({2}), f64({2, 2}), f32({2})}).breaking("C5")};
    }};

}  // namespace rlx::linalg
