#include "sparse_factor.hpp"

#include <algorithm>
#include <rlx/ir/error.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "choose_lu.hpp"
#include "condition.hpp"
#include "equilibrate.hpp"
#include "fenv_guard.hpp"
#include "linalg/digits.hpp"
#include "suitesparse_loader.hpp"

namespace rlx::linalg {

namespace {

// Above this reciprocal condition an estimate need not be exact: the limits that it is held against are 1e-10 and less.
constexpr double clearly_regular = 1e-8;

/// Where the entries of a matrix are, as the providers see it. A factor keeps it to know the next matrix of its kind.
struct Pattern {
  std::vector<std::int64_t> start, row;
  template <class T>
  bool is_of(const CscMatrix<T>& a) const {
    return start == a.start && row == a.row;
  }
};

/// |b - A x| / (|A| |x| + |b|) in 1-norms.
template <class T>
double backward_error_1(const CscMatrix<T>& a, double norm, const std::vector<T>& x, std::vector<T> b) {
  const auto size = [](const std::vector<T>& v) {
    double sum = 0;
    for (const T& e : v) sum += std::abs(e);
    return sum;
  };
  const double scale = norm * size(x) + size(b);
  for (std::int64_t j = 0; j < a.cols; ++j)
    for (std::int64_t k = a.start[j]; k < a.start[j + 1]; ++k) b[a.row[k]] -= a.value[k] * x[j];
  return size(b) / scale;
}

/// Undoes the equilibration around a provider's factor of B = diag(row) A diag(col).
template <class T>
class EquilibratedFactor final : public SparseFactor<T> {
 public:
  EquilibratedFactor(std::unique_ptr<ProviderFactor<T>> factor, Scaling scaling, double norm, std::string_view method,
                     std::string reason, const CscMatrix<T>* measured = nullptr)
      : factor_(std::move(factor)), scaling_(std::move(scaling)), method_(method), reason_(std::move(reason)) {
    const std::int64_t n = order();
    std::vector<T> work(n);
    const auto solve_in_place = [&](Transpose mode, std::vector<T>& x) {
      factor_->solve(mode, x.data(), work.data(), 1);
      x.swap(work);
    };
    const double inverse = inverse_norm_1<T>(
        n,
        [&](std::vector<T>& x) {
          solve_in_place(Transpose::none, x);
          if (measured) backward_error_ = backward_error_1(*std::exchange(measured, nullptr), norm, x, work);
        },
        [&](std::vector<T>& x) { solve_in_place(Transpose::conjugate_transpose, x); }, 1 / (clearly_regular * norm));
    rcond_ = n == 0 ? 1 : 1 / norm / inverse;
    if (!(rcond_ <= 1)) rcond_ = rcond_ > 1 ? 1 : 0;  // the estimate is a lower bound, up to rounding; NaN counts as 0
  }

  void solve(Transpose mode, std::span<const T> b, std::span<T> x, std::int64_t count) const override {
    const std::int64_t n = order();
    if (count < 0 || static_cast<std::int64_t>(b.size()) != n * count || b.size() != x.size())
      throw ArgumentError("sparse solve: " + std::to_string(count) + " right sides of length " + std::to_string(n) +
                          " do not fit arrays of " + std::to_string(b.size()) + " and " + std::to_string(x.size()));
    if (b.empty()) return;
    const FenvGuard guard;
    // A x = b is B (C^-1 x) = R b, and A^T x = b is B^T (R^-1 x) = C b.
    const auto& [before, after] =
        mode == Transpose::none ? std::tie(scaling_.row, scaling_.col) : std::tie(scaling_.col, scaling_.row);
    std::vector<T> scaled(b.size());
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t i = 0; i < n; ++i) scaled[c * n + i] = b[c * n + i] * before[i];
    factor_->solve(mode, scaled.data(), x.data(), count);
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t i = 0; i < n; ++i) x[c * n + i] *= after[i];
  }

  std::int64_t order() const noexcept override { return static_cast<std::int64_t>(scaling_.row.size()); }
  double rcond() const noexcept override { return rcond_; }
  std::string_view method() const noexcept override { return method_; }
  std::string_view provider() const noexcept override { return factor_->provider(); }
  std::string_view reason() const noexcept override { return reason_; }
  std::int64_t factor_nnz() const noexcept override { return factor_->factor_nnz(); }

  const ProviderFactor<T>& provided() const noexcept { return *factor_; }
  const Scaling& scaling() const noexcept { return scaling_; }
  /// |b - B x| / (|B| |x| + |b|) in 1-norms of the first solve, if the matrix B was given to be measured with.
  double backward_error() const noexcept { return backward_error_; }
  void keep(Pattern pattern) { pattern_ = std::move(pattern); }
  /// Of the matrix that was factored; null where `a` has another pattern.
  std::shared_ptr<const Analysis> analysis_for(const CscMatrix<T>& a) const {
    return pattern_.is_of(a) ? factor_->analysis() : nullptr;
  }

 private:
  std::unique_ptr<ProviderFactor<T>> factor_;
  Pattern pattern_;
  Scaling scaling_;
  std::string_view method_;
  std::string reason_;
  double rcond_ = 0, backward_error_ = 0;
};

/// Of a matrix without rows, which SuiteSparse refuses.
template <class T>
class EmptyFactor final : public ProviderFactor<T> {
 public:
  void solve(Transpose, const T*, T*, std::int64_t) const override {}
  std::string_view provider() const override { return "none"; }
  std::int64_t factor_nnz() const override { return 0; }
  std::shared_ptr<const Analysis> analysis() const override { return nullptr; }
};

template <class T>
std::unique_ptr<SparseFactor<T>> empty_factor(std::string_view method) {
  return std::make_unique<EquilibratedFactor<T>>(std::make_unique<EmptyFactor<T>>(), Scaling{}, 0, method,
                                                 "nothing to factor");
}

template <class T, class Index>
void check_square(const std::string& op, const CsrView<T, Index>& a) {
  if (a.rows != a.cols)
    throw ArgumentError(op + ": a factorization needs a square matrix, not " + std::to_string(a.rows) + " x " +
                        std::to_string(a.cols));
}

/// Throws where no permutation puts entries on the whole diagonal: an empty row or column, or no perfect matching.
template <class T>
void check_structure(const std::string& op, const SuitesparseTable& table, const CscMatrix<T>& a) {
  const std::int64_t n = a.cols;
  std::vector<bool> row_used(n), diagonal(n);
  std::int64_t empty_col = -1;
  for (std::int64_t j = 0; j < n; ++j) {
    if (a.start[j] == a.start[j + 1] && empty_col < 0) empty_col = j;
    for (std::int64_t k = a.start[j]; k < a.start[j + 1]; ++k) {
      row_used[a.row[k]] = true;
      if (a.row[k] == j) diagonal[j] = true;
    }
  }
  if (std::find(diagonal.begin(), diagonal.end(), false) == diagonal.end()) return;
  const std::int64_t empty_row = std::find(row_used.begin(), row_used.end(), false) - row_used.begin();
  const Matching match = table.match(n, a.start.data(), a.row.data());
  if (match.size == n || (!match.complete && empty_row == n && empty_col < 0)) return;
  std::string what = op + ": the matrix is structurally singular: structural rank " +
                     (match.complete ? "" : std::string("at least ")) + std::to_string(match.size) + " of " +
                     std::to_string(n);
  std::int64_t info = match.free_row + 1;
  if (empty_row < n) {
    info = empty_row + 1;
    what += "; row " + std::to_string(info) + " has no entry";
  } else if (empty_col < 0) {
    what += "; row " + std::to_string(info) + " and column " + std::to_string(match.free_col + 1) + " find no partner";
  }
  if (empty_col >= 0) what += "; column " + std::to_string(empty_col + 1) + " has no entry";
  throw NumericalError(op, info, what + " (counted from 1)");
}

[[noreturn]] void refuse(const std::string& op, std::string_view provider, const FactorOutcome& outcome,
                         const FactorOptions& options) {
  const std::string by = " (" + std::string(provider) + ", status " + std::to_string(outcome.code) + ")";
  const std::string row = std::to_string(outcome.row + 1), step = std::to_string(outcome.step + 1);
  switch (outcome.status) {
    case FactorStatus::singular:
      throw NumericalError(
          op, outcome.row + 1,
          op + ": the matrix is singular: zero pivot" +
              (outcome.row < 0 ? "" : " in column " + row + " (from 1), step " + step + " of the elimination") + by);
    case FactorStatus::not_positive_definite: {
      const bool exact = outcome.minor > 0;
      const std::int64_t info = exact ? outcome.minor : outcome.row + 1;
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
                        static_cast<std::uint64_t>(options.available_bytes));
    case FactorStatus::out_of_memory:
      throw DeviceError(std::string(provider), outcome.code, op + ": not enough memory for the factors" + by);
    default:
      throw InternalError(op + ": a provider refused what it should take" + by);
  }
}

template <class T>
std::unique_ptr<SparseFactor<T>> accept(const std::string& op, std::unique_ptr<EquilibratedFactor<T>> factor,
                                        const FactorOptions& options) {
  if (factor->rcond() < options.smallest_rcond)
    throw NumericalError(op, 0,
                         op + ": the matrix is singular to working precision: reciprocal condition " +
                             digits(factor->rcond()) + " of the equilibrated matrix (limit " +
                             digits(options.smallest_rcond) + ", " + std::string(factor->provider()) + ")");
  return factor;
}

}  // namespace

/// Of a matrix that has the pattern of the one before; null where it has not, or there is none.
template <class T>
static std::shared_ptr<const Analysis> known_analysis(const SparseFactor<T>* previous, std::string_view method,
                                                      const CscMatrix<T>& a) {
  if (!previous || previous->method() != method) return nullptr;
  return static_cast<const EquilibratedFactor<T>&>(*previous).analysis_for(a);
}

template <class T, class Index>
std::unique_ptr<SparseFactor<T>> sparse_lu(const CsrView<T, Index>& view, const FactorOptions& options,
                                           const SparseFactor<T>* previous) {
  static const std::string op = "linalg.sparse_lu";
  check_square(op, view);
  const SuitesparseTable& table = require_suitesparse(op);
  const FenvGuard guard;
  CscMatrix<T> a = to_csc(op, view);
  if (a.cols == 0) return empty_factor<T>("lu");
  const auto known = known_analysis(previous, "lu", a);
  if (!known) check_structure(op, table, a);
  Scaling scaling = equilibrate(a, known ? &static_cast<const EquilibratedFactor<T>&>(*previous).scaling() : nullptr);
  apply_scaling(scaling, a);
  LuChoice choice =
      known ? LuChoice{previous->provider() == "klu",
                       std::string(previous->provider()) + ": the analysis of a matrix of this pattern", known}
            : choose_lu(table, a, options.lu);
  FactorRequest request{
      .analysis = choice.analysis, .old_pivots = known != nullptr, .available_bytes = options.available_bytes};
  const ProviderTable<T>& providers = table_of<T>(table);
  const double norm = norm_1(a);
  const auto attempt = [&] {
    FactorOutcome outcome;
    auto factor = (choice.klu ? providers.klu : providers.umfpack)(a, request, outcome);
    if (!factor) refuse(op, choice.klu ? "klu" : "umfpack", outcome, options);
    return std::make_unique<EquilibratedFactor<T>>(std::move(factor), scaling, norm, "lu", choice.reason, &a);
  };
  // Loose pivots, and those of an earlier matrix, let the factors differ from the matrix by a thousand roundings or
  // more. That hides a singular matrix behind a condition of 1e-15 and spoils a nearly singular one, so those few are
  // factored again whose condition is no farther from singular than the factors may be from the matrix. One solve
  // measures that distance, which two more digits make safe.
  constexpr double least = 1e-13, safe = 100, poor_backward_error = 1e-10;
  const auto is_doubtful = [&](const EquilibratedFactor<T>& f) {
    return !(f.rcond() >= std::max(least, safe * f.backward_error()) && f.backward_error() <= poor_backward_error);
  };
  auto factor = attempt();
  if (factor->provided().pivots_are_old() && is_doubtful(*factor)) {
    request.old_pivots = false;
    factor.reset();
    factor = attempt();
  }
  if (is_doubtful(*factor)) {
    choice.reason += "; strict pivoting, as the reciprocal condition is " + digits(factor->rcond()) +
                     " and the backward error of a solve " + digits(factor->backward_error());
    request.pivoting = Pivoting::strict;
    request.old_pivots = false;
    factor.reset();
    factor = attempt();
  }
  factor->keep({std::move(a.start), std::move(a.row)});
  return accept<T>(op, std::move(factor), options);
}

/// norm_1 of a Hermitian matrix given by its upper triangle.
template <class T>
static double hermitian_norm_1(const CscMatrix<T>& upper) {
  std::vector<double> sums(upper.cols);
  for (std::int64_t j = 0; j < upper.cols; ++j)
    for (std::int64_t k = upper.start[j]; k < upper.start[j + 1]; ++k) {
      sums[j] += std::abs(upper.value[k]);
      if (upper.row[k] != j) sums[upper.row[k]] += std::abs(upper.value[k]);
    }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

template <class T, class Index>
std::unique_ptr<SparseFactor<T>> sparse_cholesky(const CsrView<T, Index>& view, const FactorOptions& options,
                                                 const SparseFactor<T>* previous) {
  static const std::string op = "linalg.sparse_cholesky";
  check_square(op, view);
  const SuitesparseTable& table = require_suitesparse(op);
  const FenvGuard guard;
  CscMatrix<T> upper = hermitian_upper(op, view);
  if (upper.cols == 0) return empty_factor<T>("cholesky");
  Scaling scaling;
  scaling.row = scaling.col = equilibrate_hermitian(upper);
  apply_scaling(scaling, upper);
  FactorOutcome outcome;
  auto provided = table_of<T>(table).cholmod(
      upper, {.analysis = known_analysis(previous, "cholesky", upper), .available_bytes = options.available_bytes},
      outcome);
  if (!provided) refuse(op, "cholmod", outcome, options);
  auto factor =
      std::make_unique<EquilibratedFactor<T>>(std::move(provided), std::move(scaling), hermitian_norm_1(upper),
                                              "cholesky", "cholmod: the one sparse Cholesky at hand");
  factor->keep({std::move(upper.start), std::move(upper.row)});
  return accept<T>(op, std::move(factor), options);
}

#define RLX_INSTANTIATE(T, I)                                                                           \
  template std::unique_ptr<SparseFactor<T>> sparse_lu(const CsrView<T, I>&, const FactorOptions&,       \
                                                      const SparseFactor<T>*);                          \
  template std::unique_ptr<SparseFactor<T>> sparse_cholesky(const CsrView<T, I>&, const FactorOptions&, \
                                                            const SparseFactor<T>*);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg
