#include "refusals.hpp"

#include <algorithm>
#include <rlx/ir/error.hpp>
#include <vector>

#include "linalg/digits.hpp"

namespace rlx::linalg {

void check_square(const std::string& op, std::int64_t rows, std::int64_t cols) {
  if (rows == cols) return;
  throw ArgumentError(op + ": a factorization needs a square matrix, not " + std::to_string(rows) + " x " +
                      std::to_string(cols));
}

template <class T, class Index>
void check_structure(const std::string& op, const SuitesparseTable& table, const CscMatrix<T, Index>& m) {
  const std::int64_t n = m.cols;
  std::vector<bool> col_used(n), diagonal(n);
  std::int64_t empty_row = n;
  for (std::int64_t i = 0; i < n; ++i) {
    if (m.start[i] == m.start[i + 1] && empty_row == n) empty_row = i;
    for (Index k = m.start[i]; k < m.start[i + 1]; ++k) {
      col_used[m.row[k]] = true;
      if (m.row[k] == i) diagonal[i] = true;
    }
  }
  if (std::find(diagonal.begin(), diagonal.end(), false) == diagonal.end()) return;
  const std::int64_t empty_col = std::find(col_used.begin(), col_used.end(), false) - col_used.begin();
  const Matching match = table.indexed_by<Index>().match(static_cast<Index>(n), m.start.data(), m.row.data());
  if (match.size == n || (!match.complete && empty_row == n && empty_col == n)) return;
  std::string what = op + ": the matrix is structurally singular: structural rank " +
                     (match.complete ? "" : std::string("at least ")) + std::to_string(match.size) + " of " +
                     std::to_string(n);
  std::int64_t info = match.free_col + 1;
  if (empty_row < n) {
    info = empty_row + 1;
    what += "; row " + std::to_string(info) + " has no entry";
  } else if (empty_col == n) {
    what += "; row " + std::to_string(info) + " and column " + std::to_string(match.free_row + 1) + " find no partner";
  }
  if (empty_col < n) what += "; column " + std::to_string(empty_col + 1) + " has no entry";
  throw NumericalError(op, info, what + " (counted from 1)");
}

void refuse(const std::string& op, std::string_view provider, const FactorOutcome& outcome) {
  const std::string by = " (" + std::string(provider) + ", status " + std::to_string(outcome.code) + ")";
  const std::string row = std::to_string(outcome.col + 1), step = std::to_string(outcome.step + 1);
  switch (outcome.status) {
    case FactorStatus::singular:
      throw NumericalError(
          op, outcome.col + 1,
          op + ": the matrix is singular: zero pivot" +
              (outcome.col < 0 ? "" : " in row " + row + " (from 1), step " + step + " of the elimination") + by);
    case FactorStatus::not_positive_definite: {
      const bool exact = outcome.minor > 0;
      const std::int64_t info = exact ? outcome.minor : outcome.col + 1;
      throw NumericalError(op, info,
                           op + ": the matrix is not positive definite: " +
                               (exact ? "its leading minor of order " + std::to_string(info) +
                                            " is the first that is not positive (info); "
                                      : "") +
                               "the permuted factorization stops at row " + row + " (from 1" + (exact ? "" : "; info") +
                               "), step " + step + by);
    }
    case FactorStatus::too_large:
      throw MemoryError(op + ": the factors (" + std::string(provider) + ")",
                        static_cast<std::uint64_t>(std::min(outcome.wanted_bytes, 9e18)),
                        static_cast<std::uint64_t>(outcome.available_bytes));
    case FactorStatus::out_of_memory:
      throw DeviceError(std::string(provider), outcome.code, op + ": not enough memory for the factors" + by);
    default:
      throw InternalError(op + ": a provider refused what it should take" + by);
  }
}

template <class T>
void check_condition(const std::string& op, const SparseFactor<T>& factor, const FactorOptions& options) {
  if (factor.rcond_at_least() >= options.smallest_rcond || factor.rcond() >= options.smallest_rcond) return;
  throw NumericalError(op, 0,
                       op + ": the matrix is singular to working precision: reciprocal condition " +
                           digits(factor.rcond()) + " of the equilibrated matrix (limit " +
                           digits(options.smallest_rcond) + ", " + std::string(factor.provider()) + ")");
}

#define RLX_INSTANTIATE(T, I) \
  template void check_structure(const std::string&, const SuitesparseTable&, const CscMatrix<T, I>&);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE
template void check_condition(const std::string&, const SparseFactor<double>&, const FactorOptions&);
template void check_condition(const std::string&, const SparseFactor<std::complex<double>>&, const FactorOptions&);

}  // namespace rlx::linalg
