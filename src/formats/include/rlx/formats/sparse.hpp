// Sparse matrices as files give them: entries in coordinates, and compressed rows. Neutral models that know no
// operator.
#pragma once
#include <rlx/ir/dtype.hpp>
#include <rlx/ir/export.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <cstdint>
#include <vector>

namespace rlx::formats {

enum class MatrixField : std::uint8_t { real, integer, pattern, complex };
enum class MatrixSymmetry : std::uint8_t { general, symmetric, skew_symmetric, hermitian };

/// Entries in the order of the file, both triangles present, indices from 0. An entry may be given more than once:
/// repeats are summed wherever the matrix is used. Explicit zeros are entries like any other.
struct CooMatrix {
  std::int64_t rows = 0, cols = 0;
  MatrixField field = MatrixField::real;                   ///< As the file states it; a pattern's values are all 1.
  MatrixSymmetry symmetry = MatrixSymmetry::general;       ///< As the file states it; the entries are expanded already.
  std::vector<std::int64_t> row_indices{}, col_indices{};  ///< [entries]
  HostTensor values{DType::f64, {0}};                      ///< [entries] f64, or c128 where the field is complex.

  std::int64_t entries() const { return static_cast<std::int64_t>(row_indices.size()); }
};

/// Columns ascend within a row and do not repeat. Indices are always int64 here; `index_tensor` gives the width that a
/// kernel wants.
struct CsrMatrix {
  std::int64_t rows = 0, cols = 0;
  MatrixSymmetry symmetry = MatrixSymmetry::general;
  std::vector<std::int64_t> row_offsets{0};  ///< [rows + 1]
  std::vector<std::int64_t> columns{};       ///< [entries]
  HostTensor values{DType::f64, {0}};        ///< [entries] f64 or c128.

  std::int64_t entries() const { return static_cast<std::int64_t>(columns.size()); }
};

/// Sorts columns within rows and sums repeats in the order of `coo`. Throws ArgumentError on an index out of range, on
/// arrays of unequal length or values that are neither f64 nor c128, MemoryError where rows + 1 offsets cannot be had.
RLX_API CsrMatrix to_csr(const CooMatrix& coo);
RLX_API CooMatrix to_coo(const CsrMatrix& csr);
/// Every element becomes an entry, zeros too, row by row. `dense` has rank 2 and a real (to f64) or complex (to c128)
/// type.
RLX_API CooMatrix to_coo(const HostTensor& dense);
/// [rows, cols], f64 or c128. Throws MemoryError where that cannot be had.
RLX_API HostTensor to_dense(const CooMatrix& coo);

/// i32 where rows, columns and the number of entries fit in 31 bits, else i64.
RLX_API DType narrowest_index(const CsrMatrix& csr);
/// `indices` (row offsets or columns) as a tensor of i32 or i64; throws ArgumentError when one does not fit.
RLX_API HostTensor index_tensor(const std::vector<std::int64_t>& indices, DType index);

}  // namespace rlx::formats
