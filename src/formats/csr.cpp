#include <rlx/formats/sparse.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "sizes.hpp"
#include "sparse_check.hpp"

namespace rlx::formats {

using Complex = std::complex<double>;

void check_coo(const CooMatrix& m) {
  const std::int64_t n = m.entries();
  if (m.rows < 0 || m.cols < 0) throw ArgumentError("a sparse matrix cannot have negative dimensions");
  if (static_cast<std::int64_t>(m.col_indices.size()) != n || m.values.shape() != std::vector<std::int64_t>{n})
    throw ArgumentError("a sparse matrix has " + std::to_string(n) + " row indices, " +
                        std::to_string(m.col_indices.size()) + " column indices and values of shape " +
                        shape_text(m.values.shape()));
  if (m.values.dtype() != DType::f64 && m.values.dtype() != DType::c128)
    throw ArgumentError("the values of a sparse matrix must be f64 or c128, not " +
                        std::string(name(m.values.dtype())));
  for (std::int64_t k = 0; k < n; ++k)
    if (m.row_indices[k] < 0 || m.row_indices[k] >= m.rows || m.col_indices[k] < 0 || m.col_indices[k] >= m.cols)
      throw ArgumentError("entry " + std::to_string(k) + " at (" + std::to_string(m.row_indices[k]) + ", " +
                          std::to_string(m.col_indices[k]) + ") lies outside of " + std::to_string(m.rows) + " x " +
                          std::to_string(m.cols));
}

namespace {

// Entries of one row as (column, number in the file); the number keeps repeats in order, whatever the sort does.
using ColumnEntry = std::pair<std::int64_t, std::int64_t>;

template <class T>
CsrMatrix compress(const CooMatrix& coo) {
  CsrMatrix csr{.rows = coo.rows, .cols = coo.cols, .symmetry = coo.symmetry};
  const std::int64_t n = coo.entries();
  std::vector<std::int64_t> next(static_cast<std::size_t>(coo.rows) + 1);
  for (const std::int64_t i : coo.row_indices) ++next[i + 1];
  for (std::int64_t i = 0; i < coo.rows; ++i) next[i + 1] += next[i];
  std::vector<ColumnEntry> places(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) places[next[coo.row_indices[k]]++] = {coo.col_indices[k], k};

  // Now next[i] is the end of row i.
  csr.row_offsets.resize(static_cast<std::size_t>(coo.rows) + 1);
  std::int64_t kept = 0;
  for (std::int64_t i = 0, from = 0; i < coo.rows; from = next[i++]) {
    const auto row = std::span(places).subspan(from, next[i] - from);
    if (!std::is_sorted(row.begin(), row.end())) std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) kept += k == 0 || row[k].first != row[k - 1].first;
    csr.row_offsets[i + 1] = kept;
  }
  csr.columns.resize(static_cast<std::size_t>(kept));
  csr.values = HostTensor(coo.values.dtype(), {kept});
  const auto from = coo.values.as<T>();
  const auto to = csr.values.as_mutable<T>();
  std::int64_t at = -1;
  for (std::int64_t i = 0, k = 0; i < coo.rows; ++i) {
    for (bool first = true; k < next[i]; ++k, first = false) {
      const auto [column, source] = places[k];
      if (!first && csr.columns[at] == column) {
        to[at] += from[source];
      } else {
        csr.columns[++at] = column;
        to[at] = from[source];
      }
    }
  }
  return csr;
}

template <class T>
void scatter(const CooMatrix& coo, HostTensor& dense) {
  const auto from = coo.values.as<T>();
  const auto to = dense.as_mutable<T>();
  for (std::int64_t k = 0; k < coo.entries(); ++k) to[coo.row_indices[k] * coo.cols + coo.col_indices[k]] += from[k];
}

}  // namespace

CsrMatrix to_csr(const CooMatrix& coo) {
  check_coo(coo);
  const auto rows = static_cast<std::uint64_t>(coo.rows);
  // Few entries may still claim many rows. Two arrays of offsets live at once, and the places of the entries.
  const std::uint64_t entries = static_cast<std::uint64_t>(coo.entries()) * (entry_bytes(coo.values.dtype()) + 8);
  const std::uint64_t bytes =
      rows >= std::uint64_t{1} << 59 ? std::numeric_limits<std::uint64_t>::max() : 16 * (rows + 1) + entries;
  require_memory("a compressed matrix of " + counted(rows, "row"), bytes);
  return is_complex(coo.values.dtype()) ? compress<Complex>(coo) : compress<double>(coo);
}

CooMatrix to_coo(const CsrMatrix& csr) {
  CooMatrix coo{.rows = csr.rows,
                .cols = csr.cols,
                .field = is_complex(csr.values.dtype()) ? MatrixField::complex : MatrixField::real,
                .symmetry = csr.symmetry};
  if (csr.rows < 0 || csr.row_offsets.size() != static_cast<std::size_t>(csr.rows) + 1 ||
      csr.row_offsets.front() != 0 || csr.row_offsets.back() != csr.entries() ||
      !std::is_sorted(csr.row_offsets.begin(), csr.row_offsets.end()))
    throw ArgumentError(
        "the row offsets of a compressed matrix must be rows + 1 ascending numbers from 0 to the number of entries");
  coo.row_indices.resize(csr.columns.size());
  for (std::int64_t i = 0; i < csr.rows; ++i)
    std::fill(coo.row_indices.begin() + csr.row_offsets[i], coo.row_indices.begin() + csr.row_offsets[i + 1], i);
  coo.col_indices = csr.columns;
  coo.values = csr.values;
  check_coo(coo);
  return coo;
}

CooMatrix to_coo(const HostTensor& dense) {
  if (dense.rank() != 2) throw ArgumentError("a matrix has rank 2, not " + std::to_string(dense.rank()));
  const bool complex = is_complex(dense.dtype());
  CooMatrix coo{.rows = dense.shape()[0], .cols = dense.shape()[1]};
  coo.field = complex ? MatrixField::complex : MatrixField::real;
  const std::int64_t n = dense.numel();
  require_memory("the entries of a dense matrix", static_cast<std::uint64_t>(n) * entry_bytes(DType::f64));
  coo.row_indices.resize(static_cast<std::size_t>(n));
  coo.col_indices.resize(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    coo.row_indices[k] = k / coo.cols;
    coo.col_indices[k] = k % coo.cols;
  }
  if (dense.dtype() == DType::f64 || dense.dtype() == DType::c128) {
    coo.values = dense.reshaped({n});
    return coo;
  }
  coo.values = HostTensor(complex ? DType::c128 : DType::f64, {n});
  for (std::int64_t k = 0; k < n; ++k) {
    if (complex) coo.values.set_c128(k, dense.get_c128(k));
    else coo.values.set_f64(k, dense.get_f64(k));
  }
  return coo;
}

HostTensor to_dense(const CooMatrix& coo) {
  check_coo(coo);
  const auto bytes = checked_bytes(coo.values.dtype(), std::vector{coo.rows, coo.cols});
  require_memory("a dense matrix of " + shape_text(std::vector{coo.rows, coo.cols}),
                 bytes ? static_cast<std::uint64_t>(*bytes) : std::numeric_limits<std::uint64_t>::max());
  HostTensor dense(coo.values.dtype(), {coo.rows, coo.cols});
  if (is_complex(coo.values.dtype())) scatter<Complex>(coo, dense);
  else scatter<double>(coo, dense);
  return dense;
}

DType narrowest_index(const CsrMatrix& csr) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  return csr.rows <= most && csr.cols <= most && csr.entries() <= most ? DType::i32 : DType::i64;
}

HostTensor index_tensor(const std::vector<std::int64_t>& indices, DType index) {
  if (index != DType::i32 && index != DType::i64)
    throw ArgumentError("indices are i32 or i64, not " + std::string(name(index)));
  HostTensor t(index, {static_cast<std::int64_t>(indices.size())});
  if (index == DType::i64) {
    std::copy(indices.begin(), indices.end(), t.as_mutable<std::int64_t>().begin());
    return t;
  }
  const auto out = t.as_mutable<std::int32_t>();
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (!std::in_range<std::int32_t>(indices[k]))
      throw ArgumentError("index " + std::to_string(indices[k]) + " exceeds i32");
    out[k] = static_cast<std::int32_t>(indices[k]);
  }
  return t;
}

}  // namespace rlx::formats
