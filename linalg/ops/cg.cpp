#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr DTypeSet cg_types{DType::f32, DType::f64};
constexpr Operand cg_operands[] = {{"a", cg_types, OperandKind::sparse}, {"b", cg_types}, {"x0", cg_types}};
constexpr Constraint<CgAttrs> cg_constraints[] = {
    {"C1", "a is a square csr matrix",
     [](const CgAttrs&, const Signature& s) { return is_csr(s, 0) && is_square(s, 0); }},
    {"C2", "b and x0 are [n]: one right side, since each has its own iterations",
     [](const CgAttrs&, const Signature& s) { return is_right_side(s, 0, 1, false) && is_right_side(s, 0, 2, false); }},
    {"C3", "all have one dtype", [](const CgAttrs&, const Signature& s) { return one_dtype(s, {0, 1, 2}); }},
    {"C4", "tolerance >= 0 and max_iterations >= 0",
     [](const CgAttrs& a, const Signature&) -> Answer { return a.tolerance >= 0 && a.max_iterations >= 0; }}};

static Types cg_infer(const CgAttrs&, const Signature& s) {
  const Type scalar = tensor(s.dtype(1), {});
  return {tensor(s.dtype(1), s.shape(1)), i32({}), scalar, scalar};
}

// The power of two at or below the greatest of `x` and `y` in magnitude, by its exponent bits; dividing by it is exact.
// At least the smallest normal number over the unit of rounding, so that whatever is not zero keeps a square above the
// smallest number; 1 where an element is not finite.
static Value cg_scale(Value x, Value y) {
  Builder& b = *x.builder;
  const DType t = x.dtype();
  const bool wide = t == DType::f64;
  const DType bits = wide ? DType::i64 : DType::i32;
  const double least = wide ? 0x1p-970 : 0x1p-102, most = wide ? 0x1p1023 : 0x1p127;
  const double exponent = wide ? 0x7FFp52 : 0xFFp23;
  const Value size = ops::max(ops::max(x, y), ops::scalar(b, t, least));
  const Value power = ops::bitcast(b.emit1("and", {ops::bitcast(size, bits), ops::scalar(b, bits, exponent)}), t);
  return ops::select(ops::compare(power, ops::scalar(b, t, most), ops::Direction::le), power, ops::scalar(b, t, 1));
}

// Squares of the numbers of b and r would leave the range where those are 1e-200 or 1e200. Residuals and directions are
// therefore those of the system over `scale`, a power of two, so that every digit is as without it where nothing
// overflows; the solution alone has its own units. b may be far below the first residual, and has a scale of its own.
//
// State: iteration, x, r, p, (r, M^-1 r), (r, r), curvature. Invariants: A, the inverse diagonal, the squared bound on
// (r, r), the most iterations, the scale of r and p.
//
// The curvature v^T A v of a direction v that the method meets proves, where it is not positive, that A is not positive
// definite: first that of the unit vectors, which is the diagonal, then that of each search direction. The step along
// such a direction is not taken, and the loop ends. It ends as well where (r, M^-1 r), which is positive for a positive
// diagonal, underflows, and where a number is none any more.
static Values cg_decompose(Builder& b, const CgAttrs& a, ValuesIn in) {
  const DType t = in[1].dtype();
  const Value zero = ops::scalar(b, t, 0), one = ops::scalar(b, t, 1);
  const Value d = diagonal(in[0]);
  const Value inverse = ops::div(one, d);
  const Value first = ops::sub(in[1], spmv(in[0], in[2]));
  const Value size = ops::reduce_max(ops::abs(in[1]), {0});
  const Value own = cg_scale(size, size), scale = cg_scale(size, ops::reduce_max(ops::abs(first), {0}));
  const Value r = ops::div(first, scale), z = ops::mul(r, inverse);
  const Value right = ops::div(in[1], own), bb = ops::dot(right, right), ratio = ops::div(own, scale);
  const Value part = ops::mul(ops::scalar(b, t, a.tolerance), ratio), bound = ops::mul(bb, ops::mul(part, part));
  const Values state{ops::scalar(b, DType::i32, 0), in[2], r, z, ops::dot(r, z), ops::dot(r, r),
                     ops::reduce_min(d, {0})};
  const Values invariants{in[0], inverse, bound, ops::scalar(b, DType::i32, a.max_iterations), scale};
  const Values out = ops::while_(
      state, invariants,
      [](ValuesIn v) -> Values {
        const Value none = ops::zeros_like(v[6]);
        const Value sound = ops::logical_and(ops::compare(v[6], none, ops::Direction::gt),
                                             ops::compare(v[4], none, ops::Direction::gt));
        const Value more = ops::logical_and(ops::compare(v[0], v[10], ops::Direction::lt),
                                            ops::compare(v[5], v[9], ops::Direction::gt));
        return {ops::logical_and(sound, more)};
      },
      [](ValuesIn v) -> Values {
        const Value q = spmv(v[7], v[3]);
        const Value curvature = ops::dot(v[3], q);
        const Value taken = ops::compare(curvature, ops::zeros_like(curvature), ops::Direction::gt);
        const Value alpha = ops::select(taken, ops::div(v[4], curvature), ops::zeros_like(curvature));
        const Value x = ops::add(v[1], ops::mul(ops::mul(alpha, v[11]), v[3])), r = ops::sub(v[2], ops::mul(alpha, q));
        const Value z = ops::mul(r, v[8]);
        const Value rz = ops::dot(r, z);
        const Value p = ops::add(z, ops::mul(ops::div(rz, v[4]), v[3]));
        return {ops::add(v[0], ops::convert(taken, DType::i32)), x, r, p, rz, ops::dot(r, r), curvature};
      },
      a.max_iterations);
  const Value nothing = ops::compare(size, zero, ops::Direction::le);  // -infinity of no rows
  const Value relative = ops::div(ops::sqrt(ops::div(out[5], ops::select(nothing, one, bb))), ratio);
  const Value residual = ops::select(nothing, ops::mul(ops::sqrt(out[5]), scale), relative);
  const Value positive = ops::compare(out[6], zero, ops::Direction::gt);
  return {out[1], out[0], residual, ops::select(positive, one, out[6])};
}

// The solution solves A x = b, whatever path led there: the cotangent of b is another solve with the same matrix, which
// is its own transpose.
static Values cg_vjp(const VjpCall<CgAttrs>& c) {
  Values out(3);
  if (!c.cotangent[0] || !(c.wanted[0] || c.wanted[1])) return out;
  const Value w = cg(c.in[0], c.cotangent[0], ops::zeros_like(c.in[1]), c.attrs).x;
  if (c.wanted[1]) out[1] = w;
  if (c.wanted[0]) out[0] = solve_cotangent(c.in[0], w, c.out[0], false);
  return out;
}

static Values cg_jvp(const JvpCall<CgAttrs>& c) {
  Value right = c.tangent[1];
  if (c.tangent[0]) {
    const Value moved = spmv(c.tangent[0], c.out[0]);
    right = right ? ops::sub(right, moved) : ops::neg(moved);
  }
  if (!right) return Values(4);
  return {cg(c.in[0], right, ops::zeros_like(c.in[1]), c.attrs).x, Value{}, Value{}, Value{}};
}

extern const OpDef<CgAttrs> cg_op{
    .name = "linalg.cg",
    .doc =
        "Conjugate gradients with a Jacobi preconditioner for a symmetric positive definite csr matrix: solution, "
        "iterations done, relative residual |b - A x| / |b| in the 2-norm by the recurrence, and the curvature v^T A v "
        "of the direction (of the system over a power of two near the greatest of |b| and |b - A x0|) that ended it "
        "because A is not positive definite, 1 where none did. A residual above the tolerance did not converge. "
        "Source: M. Hestenes and E. Stiefel, J. Res. NBS 49 (1952).",
    .operands = cg_operands,
    .constraints = cg_constraints,
    .infer = cg_infer,
    .meaning = Composite<CgAttrs>{cg_decompose},
    .vjp = Vjp<CgAttrs>{cg_vjp},
    .jvp = cg_jvp,
    .batch = Derived{},
    .shard = Never{"sparse values are sharded by rows, which needs the partition of their entries"},
    .cost = Never{"depends on the number of iterations"},
    .samples = []() -> std::vector<Sample<CgAttrs>> {
      const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {6, 6}, 16};
      SparseType f = a, wide = a;
      f.dtype = DType::f32;
      wide.shape[1] = 7;
      const SampleOperand spd(a, Fill::positive_definite), spd32(f, Fill::positive_definite);
      // Entries of the matrix are not moved one by one: that leaves the symmetric ones.
      SampleOperand fixed = spd;
      fixed.differentiable = false;
      // Where it has converged, the residual is rounding noise: values are compared before that, gradients where no
      // iteration leaves any, on a diagonal of powers of two.
      SampleOperand diagonal(SparseType{SparseFormat::csr, DType::f64, DType::i32, {6, 6}, 6}, Fill::positive_definite);
      diagonal.literal = {1, 2, 4, 0.5, 8, 1};
      diagonal.differentiable = false;
      const auto matrix = [](std::vector<double> entries) {
        SampleOperand m(SparseType{SparseFormat::csr, DType::f64, DType::i32, {2, 2}, 4});
        m.literal = std::move(entries);
        return m;
      };
      SampleOperand matrix32(SparseType{SparseFormat::csr, DType::f32, DType::i32, {2, 2}, 4});
      matrix32.literal = {2, 0, 0, 2};
      return {sample<CgAttrs>({diagonal, f64({6}), f64({6})}, {.tolerance = 1e-13, .max_iterations = 50}).within(1e-10),
              sample<CgAttrs>({fixed, f64({6}), f64({6})}, {.tolerance = 1e-2, .max_iterations = 50})
                  .within(1e-10)
                  .without_gradients(),
              sample<CgAttrs>({spd32, f32({6}), f32({6})}, {.tolerance = 1e-2, .max_iterations = 50}).within(1e-4),
              sample<CgAttrs>({diagonal, {f64({6}), {0, 0, 0, 0, 0, 0}}, {f64({6}), {0, 0, 0, 0, 0, 0}}})
                  .expects({{0, 0, 0, 0, 0, 0}, {0}, {0}, {1}})
                  .exact()
                  .without_gradients(),
              // The squares of these are 0 and infinite.
              sample<CgAttrs>({matrix({2, 0, 0, 2}), {f64({2}), {0x1p-700, 0}}, {f64({2}), {0, 0}}})
                  .expects({{0x1p-701, 0}, {1}, {0}, {1}})
                  .exact()
                  .without_gradients(),
              sample<CgAttrs>({matrix({2, 0, 0, 2}), {f64({2}), {0, 0x1p800}}, {f64({2}), {0, 0}}})
                  .expects({{0, 0x1p799}, {1}, {0}, {1}})
                  .exact()
                  .without_gradients(),
              sample<CgAttrs>({matrix32, {f32({2}), {0x1p-100, 0}}, {f32({2}), {0, 0}}})
                  .expects({{0x1p-101, 0}, {1}, {0}, {1}})
                  .exact()
                  .without_gradients(),
              // Not positive definite: by the diagonal, by the first direction, by the second one.
              sample<CgAttrs>({matrix({1, 2, 2, -1}), {f64({2}), {3, 4}}, {f64({2}), {0, 0}}})
                  .expects({{0, 0}, {0}, {1}, {-1}})
                  .exact()
                  .without_gradients(),
              sample<CgAttrs>({matrix({1, 2, 2, 1}), {f64({2}), {1, -1}}, {f64({2}), {0, 0}}})
                  .expects({{0, 0}, {0}, {1}, {-2}})
                  .exact()
                  .without_gradients(),
              sample<CgAttrs>({matrix({1, 2, 2, 1}), {f64({2}), {1, 0}}, {f64({2}), {0, 0}}})
                  .expects({{1, 0}, {1}, {2}, {-12}})
                  .exact()
                  .without_gradients(),
              sample<CgAttrs>({wide, f64({6}), f64({6})}).breaking("C1"),
              sample<CgAttrs>({a, f64({6}), f64({5})}).breaking("C2"),
              sample<CgAttrs>({a, f64({6, 2}), f64({6, 2})}).breaking("C2"),
              sample<CgAttrs>({a, f64({6}), f32({6})}).breaking("C3"),
              sample<CgAttrs>({a, f64({6}), f64({6})}, {.tolerance = -1}).breaking("C4"),
              sample<CgAttrs>({f64({6, 6}), f64({6}), f64({6})}).breaking("kind")};
    }};

}  // namespace rlx::linalg
