#include "linalg/ops/sparse_direct.hpp"

#include "linalg/explained.hpp"

#include <algorithm>

namespace rlx::linalg {

HostValues factor_reference(const ReferenceCall& c, std::size_t operand) {
  const Dense a = dense_of(c.in[operand]);
  const std::int64_t n = c.sparse(operand).type.shape[0].constant();
  dense_solve(a, n, Transpose::none, Dense(static_cast<std::size_t>(n)));  // Raises what a singular matrix raises.
  return {HostResource{std::get<ResourceType>(c.results[0]), explained(std::make_shared<const Dense>(a), "")}};
}

const Constraint<SparseSolveAttrs> SolveRules::constraints[4] = {
    {"C1", "a is a square csr matrix",
     [](const SparseSolveAttrs&, const Signature& s) { return is_csr(s, 1) && is_square(s, 1); }},
    {"C2", "the factorization is of a matrix of that order and dtype",
     [](const SparseSolveAttrs&, const Signature& s) {
       return s.equal(s.resource(0).shape.at(0), s.sparse(1).shape[0]) && one_dtype(s, {0, 1, 2});
     }},
    {"C3", "b has as many entries as a has rows",
     [](const SparseSolveAttrs&, const Signature& s) { return is_right_side(s, 1, 2, false); }},
    {"C4", "refine >= 0", [](const SparseSolveAttrs& a, const Signature&) -> Answer { return a.refine >= 0; }}};

Types SolveRules::infer(const SparseSolveAttrs&, const Signature& s) {
  return {tensor(s.dtype(2), s.shape(2)), f64({}), f64({})};
}

HostValues SolveRules::reference(const SparseSolveAttrs& attrs, const ReferenceCall& c) {
  const Dense a = dense_of(c.in[1]), b = dense_of(c.in[2]);
  const std::int64_t n = c.tensor(2).numel();
  const HostTensor x = tensor_of(dense_solve(a, n, attrs.mode, b), std::get<TensorType>(c.results[0]));
  double norm = 0, residual = 0, size_x = 0, size_b = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    std::complex<double> r = b[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = attrs.mode == Transpose::none ? i * n + j : j * n + i;
      const std::complex<double> entry = a[static_cast<std::size_t>(at)];
      r -= (attrs.mode == Transpose::conjugate_transpose ? std::conj(entry) : entry) * x.get_c128(j);
      sum += std::abs(entry);
    }
    norm = std::max(norm, sum);
    residual = std::max(residual, std::abs(r));
    size_x = std::max(size_x, std::abs(x.get_c128(i)));
    size_b = std::max(size_b, std::abs(b[static_cast<std::size_t>(i)]));
  }
  const auto relative = [&](double to) { return HostTensor::scalar(DType::f64, residual == 0 ? 0 : residual / to); };
  return {x, relative(norm * size_x + size_b), relative(size_b)};
}

// x = op(A)^-1 b: the cotangent of b solves with the adjoint, with the same factorization; that of A is -w x^H at A's
// entries.
Values SolveRules::vjp(const VjpCall<SparseSolveAttrs>& c) {
  Values out(3);
  if (!c.cotangent[0] || !(c.wanted[1] || c.wanted[2])) return out;
  const Adjoint adjoint = adjoint_of(c.attrs.mode, c.in[2].dtype());
  const SparseSolveAttrs attrs{adjoint.mode, c.attrs.refine};
  const Value right = adjoint.conjugate ? ops::conj(c.cotangent[0]) : c.cotangent[0];
  Value w = c.b.emit(c.node.op->name(), {c.in[0], c.in[1], right}, attrs)[0];
  if (adjoint.conjugate) w = ops::conj(w);
  if (c.wanted[2]) out[2] = w;
  if (!c.wanted[1]) return out;
  switch (c.attrs.mode) {
    case Transpose::none:
      out[1] = solve_cotangent(c.in[1], w, c.out[0], false);
      break;
    case Transpose::transpose:
      out[1] = solve_cotangent(c.in[1], w, c.out[0], true);
      break;
    // A^H enters conjugated, so its cotangent is the conjugate of that of A^T.
    case Transpose::conjugate_transpose:
      out[1] = solve_cotangent(c.in[1], ops::conj(w), ops::conj(c.out[0]), true);
      break;
  }
  return out;
}

Values SolveRules::jvp(const JvpCall<SparseSolveAttrs>& c) {
  Value right = c.tangent[2];
  if (c.tangent[1]) {
    const Value moved = spmv(c.tangent[1], c.out[0], c.attrs.mode);
    right = right ? ops::sub(right, moved) : ops::neg(moved);
  }
  if (!right) return Values(3);
  return {c.b.emit(c.node.op->name(), {c.in[0], c.in[1], right}, c.attrs)[0], Value{}, Value{}};
}

std::vector<Sample<SparseSolveAttrs>> SolveRules::samples(std::string_view kind) {
  using A = SparseSolveAttrs;
  const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {4, 4}, 9};
  SparseType wide = a;
  wide.shape[1] = 5;
  const Type f = ResourceType{std::string(kind), "", DType::f64, {4, 4}},
             larger = ResourceType{std::string(kind), "", DType::f64, {5, 5}};
  return {sample<A>({SampleOperand(f), wide, f64({4})}).breaking("C1"),
          sample<A>({SampleOperand(larger), a, f64({4})}).breaking("C2"),
          sample<A>({SampleOperand(f), a, f64({5})}).breaking("C3"),
          sample<A>({SampleOperand(f), a, f64({4})}, {.refine = -1}).breaking("C4"),
          sample<A>({SampleOperand(Type(ResourceType{"preconditioner", "", DType::f64, {4, 4}})), a, f64({4})})
              .breaking("kind")};
}

}  // namespace rlx::linalg
