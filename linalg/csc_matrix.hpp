// An owned compressed sparse column matrix: the form in which libraries of factorizations take one.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <rlx/linalg/csr_view.hpp>

namespace rlx::linalg {

/// Rows ascend within a column; no duplicates, no stored zeros, all values finite.
template <class T, class Index = std::int64_t>
struct CscMatrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<Index> start, row;  ///< cols + 1 offsets; one row number an entry
  std::vector<T> value;
  std::int64_t nnz() const noexcept { return static_cast<std::int64_t>(row.size()); }
};

/// Whether positions ascend within each line, whose parts of `positions` the offsets delimit. In one pass over all of
/// them, since lines are short and of many lengths, which no processor foresees: a position that does not ascend must
/// be a line's first.
template <class Index>
bool lines_ascend(std::span<const Index> offsets, std::span<const Index> positions) {
  std::size_t falls = 0, between = 0;
  for (std::size_t k = 1; k < positions.size(); ++k) falls += positions[k - 1] >= positions[k];
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (const auto k = static_cast<std::size_t>(offsets[i]); offsets[i] != offsets[i - 1] && k < positions.size())
      between += positions[k - 1] >= positions[k];
  return falls == between;
}

/// Throws ArgumentError where offsets or columns of `a` do not describe a matrix. `op` names the operator in the
/// message.
template <class T, class Index>
void check_csr(const std::string& op, const CsrView<T, Index>& a);

/// Checks and converts: duplicates are summed, zeros dropped, rows sorted. NumericalError names an entry that is not
/// finite.
template <class T, class Index>
CscMatrix<T> to_csc(const std::string& op, const CsrView<T, Index>& a);

/// The same of the transpose (not conjugated), for which nothing moves: rows by entries are columns of the transpose.
/// `To` must hold the order and the number of entries.
template <class To, class T, class Index>
CscMatrix<T, To> to_csc_transposed(const std::string& op, const CsrView<T, Index>& a);

/// The lower triangle of `a`, conjugated and transposed: the upper triangle of the Hermitian matrix of that lower one.
template <class T, class Index>
CscMatrix<T> hermitian_upper(const std::string& op, const CsrView<T, Index>& a);

/// The transpose (not conjugated); since it also sorts, two of them sort any matrix.
template <class T>
CscMatrix<T> transposed(const CscMatrix<T>& a);

}  // namespace rlx::linalg
