#include "matrix_market_symmetry.hpp"

#include <algorithm>
#include <complex>
#include <numeric>

namespace rlx::formats {

double mirrored(double value, MatrixSymmetry symmetry) {
  return symmetry == MatrixSymmetry::skew_symmetric ? -value : value;
}

std::complex<double> mirrored(std::complex<double> value, MatrixSymmetry symmetry) {
  if (symmetry == MatrixSymmetry::hermitian) return std::conj(value);
  return symmetry == MatrixSymmetry::skew_symmetric ? -value : value;
}

namespace {

template <class T>
void append_mirrors(CooMatrix& m) {
  const std::int64_t stored = m.entries();
  std::int64_t mirrors = 0;
  for (std::int64_t k = 0; k < stored; ++k) mirrors += m.row_indices[k] != m.col_indices[k];
  HostTensor both(m.values.dtype(), {stored + mirrors});
  const auto from = m.values.as<T>();
  const auto to = both.as_mutable<T>();
  std::copy(from.begin(), from.end(), to.begin());
  m.row_indices.resize(stored + mirrors);
  m.col_indices.resize(stored + mirrors);
  for (std::int64_t k = 0, at = stored; k < stored; ++k) {
    if (m.row_indices[k] == m.col_indices[k]) continue;
    m.row_indices[at] = m.col_indices[k];
    m.col_indices[at] = m.row_indices[k];
    to[at++] = mirrored(from[k], m.symmetry);
  }
  m.values = std::move(both);
}

// Sums each triangle for itself, compares them where both list a position, and keeps the lower one.
template <class T>
std::optional<std::int64_t> reconcile(CooMatrix& m) {
  const auto value = m.values.as<T>();
  const auto upper = [&](std::int64_t k) { return m.row_indices[k] < m.col_indices[k]; };
  const auto place = [&](std::int64_t k) { return std::minmax(m.row_indices[k], m.col_indices[k]); };
  std::vector<std::int64_t> order(m.row_indices.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const auto pa = place(a), pb = place(b);
    return pa != pb ? pa < pb : a < b;  // repeats are summed in the order of the file
  });

  std::vector<std::int64_t> rows, cols;
  std::vector<T> values;
  for (std::size_t k = 0; k < order.size();) {
    const auto [low, high] = std::pair<std::int64_t, std::int64_t>(place(order[k]));
    T sum[2] = {};
    std::int64_t first[2] = {-1, -1};
    for (; k < order.size() && place(order[k]) == std::pair<const std::int64_t&, const std::int64_t&>(low, high); ++k) {
      const bool u = upper(order[k]);
      sum[u] = first[u] < 0 ? value[order[k]] : sum[u] + value[order[k]];
      if (first[u] < 0) first[u] = order[k];
    }
    if (first[1] >= 0) {
      const T below = mirrored(sum[1], m.symmetry);
      if (first[0] >= 0 && below != sum[0]) return first[1];
      if (first[0] < 0) sum[0] = below;
    }
    rows.push_back(high);
    cols.push_back(low);
    values.push_back(sum[0]);
  }
  m.row_indices = std::move(rows);
  m.col_indices = std::move(cols);
  HostTensor kept(m.values.dtype(), {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), kept.as_mutable<T>().begin());
  m.values = std::move(kept);
  return std::nullopt;
}

template <class T>
std::optional<std::int64_t> expand(CooMatrix& matrix, bool both) {
  if (both)
    if (const auto conflict = reconcile<T>(matrix)) return conflict;
  append_mirrors<T>(matrix);
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> expand_triangle(CooMatrix& matrix, bool both) {
  return is_complex(matrix.values.dtype()) ? expand<std::complex<double>>(matrix, both) : expand<double>(matrix, both);
}

}  // namespace rlx::formats
