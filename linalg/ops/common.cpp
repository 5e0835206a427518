#include "linalg/ops/common.hpp"

#include "linalg/csc_matrix.hpp"
#include "linalg/host_csr.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rlx::linalg {

const Shape& matrix_shape(const Signature& s, std::size_t i) {
  if (const auto* a = std::get_if<SparseType>(&s.types[i])) return a->shape;
  if (const auto* r = std::get_if<ResourceType>(&s.types[i])) return r->shape;
  return s.shape(i);
}

DType matrix_dtype(const Signature& s, std::size_t i) {
  if (const auto* a = std::get_if<SparseType>(&s.types[i])) return a->dtype;
  if (const auto* r = std::get_if<ResourceType>(&s.types[i])) return r->dtype;
  return s.dtype(i);
}

Answer is_square(const Signature& s, std::size_t i) {
  const Shape& shape = matrix_shape(s, i);
  const bool dense = std::holds_alternative<TensorType>(s.types[i]);
  if (shape.size() < 2 || (shape.size() > 2 && !dense))
    return Answer::no("operand " + std::to_string(i) + " has rank " + std::to_string(shape.size()));
  return s.equal(shape[shape.size() - 2], shape.back());
}

Answer is_csr(const Signature& s, std::size_t i) { return s.sparse(i).format == SparseFormat::csr; }

Answer is_right_side(const Signature& s, std::size_t a, std::size_t i, bool columns) {
  Shape with_n = matrix_shape(s, a), other = s.shape(i);
  with_n.pop_back();
  if (columns && other.size() == with_n.size() + 1) other.pop_back();
  if (other.size() != with_n.size()) return Answer::no("rank " + std::to_string(s.rank(i)));
  return s.same_shape(with_n, other);
}

Answer one_dtype(const Signature& s, std::initializer_list<std::size_t> operands) {
  for (std::size_t i : operands)
    if (matrix_dtype(s, i) != matrix_dtype(s, *operands.begin()))
      return Answer::no(std::string(name(matrix_dtype(s, i))) + " is not " +
                        std::string(name(matrix_dtype(s, *operands.begin()))));
  return true;
}

Adjoint adjoint_of(Transpose mode, DType t) {
  switch (mode) {
    case Transpose::none:
      return {is_complex(t) ? Transpose::conjugate_transpose : Transpose::transpose, false};
    case Transpose::conjugate_transpose:
      return {Transpose::none, false};
    case Transpose::transpose:
      return {Transpose::none, is_complex(t)};  // (A^T)^H is the conjugate of A.
  }
  throw InternalError("adjoint_of: unknown mode");
}

Value applied(Value a, Transpose mode) {
  if (mode == Transpose::none) return a;
  std::vector<int> order(static_cast<std::size_t>(a.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order.back(), order[order.size() - 2]);
  const Value t = ops::transpose(a, order);
  return mode == Transpose::conjugate_transpose ? ops::conj(t) : t;
}

static Values start_at(Value a, Value k) {
  Values start{k};
  for (int d = 1; d < a.rank(); ++d) start.push_back(ops::scalar(*a.builder, DType::i64, 0));
  return start;
}

Value row_of(Value a, Value k) {
  Shape sizes = a.shape();
  sizes[0] = 1;
  return ops::reshape(ops::dynamic_slice(a, start_at(a, k), sizes), Shape(sizes.begin() + 1, sizes.end()));
}

Value with_row(Value a, Value row, Value k) {
  Shape shape = a.shape();
  shape[0] = 1;
  return ops::dynamic_update_slice(a, ops::reshape(row, shape), start_at(a, k));
}

Value with_values(Value a, Value values) {
  Builder& b = *a.builder;
  const Values parts = b.emit("sparse.parts", {a});
  return b.emit1("sparse.assemble", {parts[0], parts[1], values},
                 ops::AssembleAttrs{std::get<SparseType>(a.type()).shape[1]});
}

Value solve_cotangent(Value a, Value w, Value x, bool transposed, int axis) {
  const Value columns = a.builder->emit("sparse.parts", {a})[1];
  const Value left = ops::take(w, transposed ? columns : row_indices(a), axis);
  const Value right = ops::take(ops::conj(x), transposed ? row_indices(a) : columns, axis);
  Value product = ops::mul(left, right);
  if (product.rank() == 2) product = ops::reduce_sum(product, {1 - axis});
  return with_values(a, ops::neg(product));
}

Dense dense_of(const std::string& op, const HostValue& matrix) {
  if (const auto* t = std::get_if<HostTensor>(&matrix)) {
    Dense d(static_cast<std::size_t>(t->numel()));
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = t->get_c128(static_cast<std::int64_t>(i));
    return d;
  }
  const auto& s = std::get<HostSparse>(matrix);
  return with_view(s, [&](const auto& view) {
    const auto m = to_csc(op, view);
    Dense d(static_cast<std::size_t>(m.rows * m.cols));
    for (std::int64_t j = 0; j < m.cols; ++j)
      for (auto k = static_cast<std::size_t>(m.start[static_cast<std::size_t>(j)]);
           k < static_cast<std::size_t>(m.start[static_cast<std::size_t>(j) + 1]); ++k)
        d[static_cast<std::size_t>(m.row[k] * m.cols + j)] = m.value[k];
    return d;
  });
}

Dense dense_solve(Dense a, std::int64_t n, Transpose mode, Dense b) {
  using Wide = std::complex<long double>;
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  const std::size_t columns = n ? b.size() / static_cast<std::size_t>(n) : 0;
  std::vector<Wide> m(a.size()), x(b.begin(), b.end());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const auto v = mode == Transpose::none ? a[at(i, j)] : a[at(j, i)];
      m[at(i, j)] = Wide(mode == Transpose::conjugate_transpose ? std::conj(v) : v);
    }
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t p = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(m[at(i, k)]) > std::abs(m[at(p, k)])) p = i;
    if (m[at(p, k)] == Wide(0))
      throw NumericalError("linalg.solve", k + 1,
                           "the matrix is singular: pivot " + std::to_string(k + 1) + " is zero");
    for (std::int64_t j = 0; j < n; ++j) std::swap(m[at(k, j)], m[at(p, j)]);
    for (std::size_t c = 0; c < columns; ++c)
      std::swap(x[static_cast<std::size_t>(k) * columns + c], x[static_cast<std::size_t>(p) * columns + c]);
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Wide f = m[at(i, k)] / m[at(k, k)];
      for (std::int64_t j = k; j < n; ++j) m[at(i, j)] -= f * m[at(k, j)];
      for (std::size_t c = 0; c < columns; ++c)
        x[static_cast<std::size_t>(i) * columns + c] -= f * x[static_cast<std::size_t>(k) * columns + c];
    }
  }
  Dense out(b.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < columns; ++c) {
      const Wide v = x[static_cast<std::size_t>(i) * columns + c] / m[at(i, i)];
      out[static_cast<std::size_t>(i) * columns + c] = {static_cast<double>(v.real()), static_cast<double>(v.imag())};
    }
  return out;
}

HostTensor tensor_of(const Dense& d, const TensorType& t) {
  HostTensor out(t.dtype, constant_shape(t.shape));
  for (std::size_t i = 0; i < d.size(); ++i) out.set_c128(static_cast<std::int64_t>(i), d[i]);
  return out;
}

}  // namespace rlx::linalg
