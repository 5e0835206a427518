#include "linalg/ops/sparse_direct.hpp"

#include "linalg/explained.hpp"
#include "linalg/hermitian.hpp"
#include "linalg/host_csr.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>

namespace rlx::linalg {

namespace {

/// The Cholesky factorization of the lower triangle, column by column in extended precision, which fails at the first
/// leading minor that is not positive.
void check_definite(const std::string& op, const Dense& a, std::int64_t n) {
  using Wide = std::complex<long double>;
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  std::vector<Wide> l(a.begin(), a.end());
  for (std::int64_t j = 0; j < n; ++j) {
    long double pivot = l[at(j, j)].real();
    for (std::int64_t k = 0; k < j; ++k) pivot -= std::norm(l[at(j, k)]);
    if (!(pivot > 0))
      throw NumericalError(op, j + 1,
                           op + ": the matrix is not positive definite: its leading minor of order " +
                               std::to_string(j + 1) + " is the first that is not positive (info)");
    l[at(j, j)] = std::sqrt(pivot);
    for (std::int64_t i = j + 1; i < n; ++i) {
      for (std::int64_t k = 0; k < j; ++k) l[at(i, j)] -= l[at(i, k)] * std::conj(l[at(j, k)]);
      l[at(i, j)] /= l[at(j, j)];
    }
  }
}

}  // namespace

HostValues factor_reference(const std::string& op, const ReferenceCall& c, std::size_t operand, bool cholesky) {
  const Dense a = dense_of(op, c.in[operand]);
  const std::int64_t n = c.sparse(operand).type.shape[0].constant();
  if (cholesky) {
    with_view(c.sparse(operand), [&](const auto& view) { check_hermitian(op, view); });
    check_definite(op, a, n);
  } else {
    dense_solve(a, n, Transpose::none, Dense(static_cast<std::size_t>(n)));  // Raises what a singular matrix raises.
  }
  return {HostResource{std::get<ResourceType>(c.results[0]), explained(std::make_shared<const Dense>(a), "")}};
}

const Constraint<SparseSolveAttrs> SolveRules::constraints[4] = {
    {"C1", "a is a square csr matrix",
     [](const SparseSolveAttrs&, const Signature& s) { return is_csr(s, 1) && is_square(s, 1); }},
    {"C2", "the factorization is of a matrix of that order and dtype",
     [](const SparseSolveAttrs&, const Signature& s) {
       return s.equal(s.resource(0).shape.at(0), s.sparse(1).shape[0]) && one_dtype(s, {0, 1, 2});
     }},
    {"C3", "b is [n], [n, k] or, with axis 1, [k, n]",
     [](const SparseSolveAttrs& a, const Signature& s) -> Answer {
       if (s.rank(2) != 1 && s.rank(2) != 2) return Answer::no("rank " + std::to_string(s.rank(2)));
       if (a.axis < 0 || a.axis >= s.rank(2)) return Answer::no("axis " + std::to_string(a.axis));
       return s.equal(s.sparse(1).shape[0], s.tensor(2).dim(a.axis));
     }},
    {"C4", "refine >= 0", [](const SparseSolveAttrs& a, const Signature&) -> Answer { return a.refine >= 0; }}};

Types SolveRules::infer(const SparseSolveAttrs& a, const Signature& s) {
  Shape each = s.shape(2);
  each.erase(each.begin() + a.axis);
  return {tensor(s.dtype(2), s.shape(2)), f64(each), f64(each)};
}

HostValues SolveRules::reference(const std::string& op, const SparseSolveAttrs& attrs, const ReferenceCall& c) {
  const Dense a = dense_of(op, c.in[1]), b = dense_of(op, c.in[2]);
  HostValues out{HostTensor{}, c.make(1), c.make(2)};
  auto &backward = std::get<HostTensor>(out[1]), &relative = std::get<HostTensor>(out[2]);
  const std::int64_t n = c.sparse(1).type.shape[0].constant(), columns = backward.numel();
  // Row-major n x columns, and in b.
  const auto in = [columns](std::int64_t i, std::int64_t k) { return static_cast<std::size_t>(i * columns + k); };
  const auto given = [&](std::int64_t i, std::int64_t k) {
    return attrs.axis == 0 ? in(i, k) : static_cast<std::size_t>(k * n + i);
  };
  Dense right(b.size()), x(b.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < columns; ++k) right[in(i, k)] = b[given(i, k)];
  const Dense found = dense_solve(a, n, attrs.mode, right);
  for (std::int64_t k = 0; k < columns; ++k) {
    double norm = 0, residual = 0, size_x = 0, size_b = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      std::complex<double> r = right[in(i, k)];
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t at = attrs.mode == Transpose::none ? i * n + j : j * n + i;
        const std::complex<double> entry = a[static_cast<std::size_t>(at)];
        r -= (attrs.mode == Transpose::conjugate_transpose ? std::conj(entry) : entry) * found[in(j, k)];
        sum += std::abs(entry);
      }
      norm = std::max(norm, sum);
      residual = std::max(residual, std::abs(r));
      size_x = std::max(size_x, std::abs(found[in(i, k)]));
      size_b = std::max(size_b, std::abs(right[in(i, k)]));
      x[given(i, k)] = found[in(i, k)];
    }
    backward.set_f64(k, residual == 0 ? 0 : residual / (norm * size_x + size_b));
    relative.set_f64(k, residual == 0 ? 0 : residual / size_b);
  }
  out[0] = tensor_of(x, std::get<TensorType>(c.results[0]));
  return out;
}

// x = op(A)^-1 b: the cotangent of b solves with the adjoint, with the same factorization; that of A is -w x^H at A's
// entries, summed over the right sides.
Values SolveRules::vjp(const VjpCall<SparseSolveAttrs>& c) {
  Values out(3);
  if (!c.cotangent[0] || !(c.wanted[1] || c.wanted[2])) return out;
  const Adjoint adjoint = adjoint_of(c.attrs.mode, c.in[2].dtype());
  SparseSolveAttrs attrs = c.attrs;
  attrs.mode = adjoint.mode;
  const Value right = adjoint.conjugate ? ops::conj(c.cotangent[0]) : c.cotangent[0];
  Value w = c.b.emit(c.node.op->name(), {c.in[0], c.in[1], right}, attrs)[0];
  if (adjoint.conjugate) w = ops::conj(w);
  if (c.wanted[2]) out[2] = w;
  if (!c.wanted[1]) return out;
  switch (c.attrs.mode) {
    case Transpose::none:
      out[1] = solve_cotangent(c.in[1], w, c.out[0], false, attrs.axis);
      break;
    case Transpose::transpose:
      out[1] = solve_cotangent(c.in[1], w, c.out[0], true, attrs.axis);
      break;
    // A^H enters conjugated, so its cotangent is the conjugate of that of A^T.
    case Transpose::conjugate_transpose:
      out[1] = solve_cotangent(c.in[1], ops::conj(w), ops::conj(c.out[0]), true, attrs.axis);
      break;
  }
  return out;
}

Values SolveRules::jvp(const JvpCall<SparseSolveAttrs>& c) {
  Value right = c.tangent[2];
  if (c.tangent[1]) {
    const auto turned = [&](Value v) { return c.attrs.axis == 0 ? v : ops::transpose(v, {1, 0}); };
    const Value moved = turned(spmv(c.tangent[1], turned(c.out[0]), c.attrs.mode));
    right = right ? ops::sub(right, moved) : ops::neg(moved);
  }
  if (!right) return Values(3);
  return {c.b.emit(c.node.op->name(), {c.in[0], c.in[1], right}, c.attrs)[0], Value{}, Value{}};
}

// One factorization serves the whole batch: the right sides of all members are those of one solve. Only b can differ
// between members, since neither factorizations nor sparse matrices come in batches.
Batched SolveRules::batch(const BatchCall<SparseSolveAttrs>& c) {
  const int at = c.axes[2];
  Value b = c.in[2];
  SparseSolveAttrs attrs = c.attrs;
  if (b.rank() == 2) {
    attrs.axis = 1 - at;
    return {c.b.emit(c.node.op->name(), {c.in[0], c.in[1], b}, attrs), {at, 0, 0}};
  }
  // Members [n, k] as [n, size, k] with their right sides side by side, members [k, n] as [size, k, n].
  const int to = 1 - attrs.axis;
  std::vector<int> order;
  for (int d = 0; d < 3; ++d)
    if (d != at) order.push_back(d);
  order.insert(order.begin() + to, at);
  if (at != to) b = ops::transpose(b, order);
  const Shape members = b.shape();
  const Dim k = members[attrs.axis == 0 ? 2 : 1], n = members[attrs.axis == 0 ? 0 : 2], all = c.size * k;
  Values out = c.b.emit(c.node.op->name(),
                        {c.in[0], c.in[1], ops::reshape(b, attrs.axis == 0 ? Shape{n, all} : Shape{all, n})}, attrs);
  out[0] = ops::reshape(out[0], members);
  for (Value& measure : std::span(out).subspan(1)) measure = ops::reshape(measure, {c.size, k});
  return {out, {to, 0, 0}};
}

static SampleOperand full_matrix(DType t, std::vector<double> elements) {
  SampleOperand a(SparseType{SparseFormat::csr, t, DType::i32, {2, 2}, 4});
  a.literal = std::move(elements);
  return a;
}
SampleOperand dyadic_matrix(bool cholesky) {
  SampleOperand a = full_matrix(DType::f64, {4, 2, 2, 2});
  a.differentiable = !cholesky;
  return a;
}

std::vector<Sample<SparseSolveAttrs>> SolveRules::samples(std::string_view kind) {
  using A = SparseSolveAttrs;
  const auto of = [&](DType t) { return SampleOperand(Type(ResourceType{std::string(kind), "", t, {2, 2}})); };
  const auto right = [](TensorType t) { return SampleOperand(Type(std::move(t)), Fill::distinct, -10, 10); };
  const SampleOperand symmetric = dyadic_matrix(kind == "sparse_cholesky"), f2 = of(DType::f64);
  std::vector<Sample<A>> all{
      sample<A>({f2, symmetric, {f64({2}), {10, 6}}}).expects({{2, 1}, {0}, {0}}),
      sample<A>({f2, symmetric, right(f64({2, 3}))}),
      sample<A>({f2, symmetric, right(f64({3, 2}))}, {.axis = 1}),
  };
  if (kind == "sparse_lu") {
    const SampleOperand a = full_matrix(DType::f64, {2, 4, 1, 4});
    all.push_back(sample<A>({f2, a, {f64({2}), {4, 8}}}, {.mode = Transpose::transpose}).expects({{2, 0}, {0}, {0}}));
    all.push_back(sample<A>({f2, a, right(f64({2}))}));
    // [[2, 2i], [i, 1]], of determinant 4.
    const SampleOperand c = full_matrix(DType::c128, {2, 0, 0, 2, 0, 1, 1, 0}), f = of(DType::c128);
    for (Transpose mode : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose})
      all.push_back(sample<A>({f, c, {c128({2}), {4, 0, 0, 8}}}, {.mode = mode}));
  }
  const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {4, 4}, 9};
  SparseType wide = a;
  wide.shape[1] = 5;
  const Type f = ResourceType{std::string(kind), "", DType::f64, {4, 4}},
             larger = ResourceType{std::string(kind), "", DType::f64, {5, 5}};
  std::vector<Sample<A>> refused{
      sample<A>({SampleOperand(f), wide, f64({4})}).breaking("C1"),
      sample<A>({SampleOperand(larger), a, f64({4})}).breaking("C2"),
      sample<A>({SampleOperand(f), a, f64({5})}).breaking("C3"),
      sample<A>({SampleOperand(f), a, f64({5, 4})}).breaking("C3"),
      sample<A>({SampleOperand(f), a, f64({4, 5})}, {.axis = 1}).breaking("C3"),
      sample<A>({SampleOperand(f), a, f64({5, 0})}).breaking("C3"),
      sample<A>({SampleOperand(f), a, f64({4, 4, 4})}).breaking("C3"),
      sample<A>({SampleOperand(f), a, f64({4})}, {.axis = 1}).breaking("C3"),
      sample<A>({SampleOperand(f), a, f64({4, 4})}, {.axis = 2}).breaking("C3"),
      sample<A>({SampleOperand(f), a, f64({4, 4})}, {.axis = -1}).breaking("C3"),
      sample<A>({SampleOperand(f), a, c128({4, 2})}).breaking("C2"),
      sample<A>({SampleOperand(f), a, f64({4})}, {.refine = -1}).breaking("C4"),
      sample<A>({SampleOperand(Type(ResourceType{"preconditioner", "", DType::f64, {4, 4}})), a, f64({4})})
          .breaking("kind")};
  all.insert(all.end(), refused.begin(), refused.end());
  return all;
}

}  // namespace rlx::linalg
