#include "linalg/csc_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <tuple>
#include <type_traits>

namespace rlx::linalg {

template <class T, class Index>
void check_csr(const std::string& op, const CsrView<T, Index>& a) {
  const auto refuse = [&](const std::string& what) { throw ArgumentError(op + ": " + what); };
  if (a.rows < 0 || a.cols < 0) refuse("a matrix needs a number of rows and columns of at least 0");
  // Unsigned: there may be 2^63 - 1 rows.
  if (const std::uint64_t expected = static_cast<std::uint64_t>(a.rows) + 1; a.row_offsets.size() != expected)
    refuse(counted(a.row_offsets.size(), "row offset") + " for " + counted(a.rows, "row") + ", expected " +
           std::to_string(expected));
  if (a.columns.size() != a.values.size())
    refuse(counted(a.columns.size(), "column") + " but " + counted(a.values.size(), "value"));
  if (a.row_offsets[0] != 0) refuse("the first row offset is " + std::to_string(a.row_offsets[0]) + ", not 0");
  for (std::int64_t i = 0; i < a.rows; ++i)
    if (a.row_offsets[i + 1] < a.row_offsets[i]) refuse("row offsets decrease after row " + std::to_string(i + 1));
  if (static_cast<std::size_t>(a.row_offsets[a.rows]) != a.columns.size())
    refuse("the last row offset is " + std::to_string(a.row_offsets[a.rows]) + " for " +
           counted(a.columns.size(), "entry", "entries"));
  // First without branches: the sign is set in what is negative, and in the difference where it is too large.
  using Unsigned = std::make_unsigned_t<Index>;
  const auto last = static_cast<Unsigned>(std::min<std::int64_t>(a.cols - 1, std::numeric_limits<Index>::max()));
  Unsigned signs = 0;
  for (const Index j : a.columns) signs |= static_cast<Unsigned>(j) | (last - static_cast<Unsigned>(j));
  if (a.columns.empty() || (a.cols > 0 && static_cast<Index>(signs) >= 0)) return;
  for (const Index j : a.columns)
    if (j < 0 || j >= a.cols) refuse("column " + std::to_string(j) + " lies outside 0.." + std::to_string(a.cols - 1));
}

namespace {

/// Set in the sign: that x is zero, and that it is not finite, whose exponent overflows into it.
struct Flags {
  std::uint64_t zero, not_finite;
};
Flags flags_of(double x) {
  constexpr std::uint64_t size = ~std::uint64_t{0} >> 1, exponent = std::uint64_t{0x7ff} << 52,
                          least = std::uint64_t{1} << 52;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return {(bits & size) - 1, (bits & exponent) + least};
}
Flags flags_of(std::complex<double> x) {
  const Flags re = flags_of(x.real()), im = flags_of(x.imag());
  return {re.zero & im.zero, re.not_finite | im.not_finite};
}

/// Whether one is zero, or one is not finite.
struct Found {
  bool zero, not_finite;
};
template <class T>
Found found_in(const std::vector<T>& values) {
  Flags all{0, 0};
  for (const T& v : values) {
    const Flags f = flags_of(v);
    all.zero |= f.zero;
    all.not_finite |= f.not_finite;
  }
  return {static_cast<std::int64_t>(all.zero) < 0, static_cast<std::int64_t>(all.not_finite) < 0};
}

/// Of a matrix without duplicates. Each entry is written where the last that was kept ends: no branch on its value.
template <class T, class Index>
void drop_zeros(CscMatrix<T, Index>& m) {
  Index out = 0, k = 0;
  for (std::int64_t j = 0; j < m.cols; ++j) {
    for (const Index end = m.start[j + 1]; k < end; ++k) {
      m.row[out] = m.row[k];
      m.value[out] = m.value[k];
      out += m.value[k] != T{};
    }
    m.start[j + 1] = out;
  }
  m.row.resize(out);
  m.value.resize(out);
}

/// Sums neighbours of the same row, drops zeros, refuses what is not finite; `m` is sorted within its columns.
template <class T, class Index>
void compact(const std::string& op, CscMatrix<T, Index>& m, bool entries_are_transposed) {
  Index out = 0, begin = 0;
  for (std::int64_t j = 0; j < m.cols; ++j) {
    const Index end = m.start[j + 1];
    for (Index k = begin; k < end;) {
      const Index i = m.row[k];
      T sum{};
      for (; k < end && m.row[k] == i; ++k) sum += m.value[k];
      if (!is_finite(sum)) {
        const std::int64_t r = entries_are_transposed ? j : i, c = entries_are_transposed ? i : j;
        throw NumericalError(op, 0,
                             op + ": the entry in row " + std::to_string(r + 1) + ", column " + std::to_string(c + 1) +
                                 " (counted from 1) is not finite");
      }
      if (sum == T{}) continue;
      m.row[out] = i;
      m.value[out++] = sum;
    }
    begin = end;
    m.start[j + 1] = out;
  }
  m.row.resize(out);
  m.value.resize(out);
}

}  // namespace

template <class T, class Index>
CscMatrix<T> to_csc(const std::string& op, const CsrView<T, Index>& a) {
  check_csr(op, a);
  // The bucket transposition of Gustavson (1978): rows are visited in order, so each column comes out sorted.
  CscMatrix<T> m{a.rows, a.cols, std::vector<std::int64_t>(a.cols + 1), std::vector<std::int64_t>(a.columns.size()),
                 std::vector<T>(a.columns.size())};
  for (const Index j : a.columns) ++m.start[j + 1];
  for (std::int64_t j = 0; j < a.cols; ++j) m.start[j + 1] += m.start[j];
  std::vector<std::int64_t> next(m.start.begin(), m.start.end() - 1);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (Index k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const std::int64_t at = next[a.columns[k]]++;
      m.row[at] = i;
      m.value[at] = a.values[k];
    }
  compact(op, m, false);
  return m;
}

template <class To, class T, class Index>
CscMatrix<T, To> to_csc_transposed(const std::string& op, const CsrView<T, Index>& a) {
  check_csr(op, a);
  CscMatrix<T, To> m{a.cols,
                     a.rows,
                     {a.row_offsets.begin(), a.row_offsets.end()},
                     {a.columns.begin(), a.columns.end()},
                     {a.values.begin(), a.values.end()}};
  if (lines_ascend<To>(m.start, m.row)) {
    const Found found = found_in(m.value);
    if (!found.not_finite) {
      if (found.zero) drop_zeros(m);
      return m;
    }
  } else {
    std::vector<std::pair<To, T>> line;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      line.clear();
      for (To k = m.start[i]; k < m.start[i + 1]; ++k) line.emplace_back(m.row[k], m.value[k]);
      std::stable_sort(line.begin(), line.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
      for (std::size_t k = 0; k < line.size(); ++k) std::tie(m.row[m.start[i] + k], m.value[m.start[i] + k]) = line[k];
    }
  }
  compact(op, m, true);
  return m;
}

template <class T, class Index>
CscMatrix<T> hermitian_upper(const std::string& op, const CsrView<T, Index>& a) {
  check_csr(op, a);
  // Row i of the lower triangle, conjugated, is column i of the upper one: no transposition, only a sort of each row.
  CscMatrix<T> m{a.cols, a.rows, {0}, {}, {}};
  m.row.reserve(a.columns.size() / 2 + a.rows);
  m.value.reserve(a.columns.size() / 2 + a.rows);
  std::vector<std::pair<std::int64_t, T>> line;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    line.clear();
    for (Index k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      if (a.columns[k] <= i) line.emplace_back(a.columns[k], conj_of(a.values[k]));
    const auto by_row = [](const auto& x, const auto& y) { return x.first < y.first; };
    if (!std::is_sorted(line.begin(), line.end(), by_row)) std::stable_sort(line.begin(), line.end(), by_row);
    for (const auto& [row, value] : line) {
      m.row.push_back(row);
      m.value.push_back(value);
    }
    m.start.push_back(static_cast<std::int64_t>(m.row.size()));
  }
  compact(op, m, true);
  return m;
}

template <class T>
CscMatrix<T> transposed(const CscMatrix<T>& a) {
  CscMatrix<T> m{a.cols, a.rows, std::vector<std::int64_t>(a.rows + 1), std::vector<std::int64_t>(a.nnz()),
                 std::vector<T>(a.nnz())};
  for (const std::int64_t i : a.row) ++m.start[i + 1];
  for (std::int64_t i = 0; i < a.rows; ++i) m.start[i + 1] += m.start[i];
  std::vector<std::int64_t> next(m.start.begin(), m.start.end() - 1);
  for (std::int64_t j = 0; j < a.cols; ++j)
    for (std::int64_t k = a.start[j]; k < a.start[j + 1]; ++k) {
      const std::int64_t at = next[a.row[k]]++;
      m.row[at] = j;
      m.value[at] = a.value[k];
    }
  return m;
}

#define RLX_INSTANTIATE(T, I)                                                                      \
  template void check_csr(const std::string&, const CsrView<T, I>&);                               \
  template CscMatrix<T> to_csc(const std::string&, const CsrView<T, I>&);                          \
  template CscMatrix<T, std::int32_t> to_csc_transposed(const std::string&, const CsrView<T, I>&); \
  template CscMatrix<T, std::int64_t> to_csc_transposed(const std::string&, const CsrView<T, I>&); \
  template CscMatrix<T> hermitian_upper(const std::string&, const CsrView<T, I>&);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE
template CscMatrix<double> transposed(const CscMatrix<double>&);
template CscMatrix<std::complex<double>> transposed(const CscMatrix<std::complex<double>>&);

}  // namespace rlx::linalg
