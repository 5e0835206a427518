// Csr: a sparse matrix in compressed rows, concrete or traced. One value: its gradient is a Csr of the same structure.
#pragma once
#include <rlx/tensor.hpp>

namespace rlx {

class RLX_API Csr : public Handle {
 public:
  Csr() = default;
  /// Throws ArgumentError where it is not a csr matrix.
  explicit Csr(Handle h);
  /// Arrays of a matrix with `columns` columns: offsets [rows + 1] from 0, column indices [entries], ascending within a
  /// row without repeats, both i32 or both i64, and values [entries]. Arrays that are concrete are checked
  /// (ArgumentError).
  Csr(std::int64_t columns, const Tensor& offsets, const Tensor& indices, const Tensor& values);

  std::int64_t rows() const { return constant_shape(sparse_type().shape)[0]; }
  std::int64_t columns() const { return constant_shape(sparse_type().shape)[1]; }
  std::int64_t entries() const { return sparse_type().entries.constant(); }
  DType dtype() const { return sparse_type().dtype; }
  SparseType sparse_type() const;

  Tensor offsets() const;
  Tensor indices() const;
  Tensor values() const;
  /// The same structure with other values.
  Csr with_values(const Tensor& values) const;
};

}  // namespace rlx
