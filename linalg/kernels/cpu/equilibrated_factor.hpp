// A provider's factorization of an equilibrated matrix as one of the matrix that was given.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rlx/ir/error.hpp>

#include "condition.hpp"
#include "equilibrate.hpp"
#include "fenv_guard.hpp"
#include "norms.hpp"
#include "provider.hpp"
#include "sparse_factor.hpp"

namespace rlx::linalg {

// Above this reciprocal condition a bound will do: the limits that it is held against are this and less. Above the
// second an estimate need not be exact.
inline constexpr double clear = 1e-10, clearly_regular = 1e-8;

/// Which matrix the provider holds: that of the caller, or its transpose, whose columns are the rows of a csr matrix.
enum class Held { matrix, transpose };

/// Undoes the equilibration around a provider's factor of B = diag(row) M diag(col), where M is the matrix or its
/// transpose.
template <class T, class Index>
class EquilibratedFactor final : public SparseFactor<T> {
 public:
  /// `norm` is the 1-norm of the caller's matrix, equilibrated: of B, or of its transpose.
  EquilibratedFactor(std::unique_ptr<ProviderFactor<T>> factor, Held held, Scaling scaling, double norm,
                     std::string_view method, std::string reason)
      : factor_(std::move(factor)),
        held_(held),
        scaling_(std::move(scaling)),
        norm_(norm),
        method_(method),
        reason_(std::move(reason)) {}

  /// Solves with a random right side, which bounds the condition: see condition.hpp. Where one does not clear the
  /// limits but four may, with three more, which the library solves at once if it can. Returns solution and right side
  /// of the first B x = b.
  std::pair<std::vector<T>, std::vector<T>> probe() {
    const std::int64_t n = order();
    std::vector<T> b(n), x(n);
    fill_random(b);
    factor_->solve(Transpose::none, b.data(), x.data(), 1);
    const double largest = max_norm<T>(x);
    const auto raise = [&](double inverse) { at_least_ = std::max(at_least_, std::min(1.0, 1 / (norm_ * inverse))); };
    raise(inverse_norm_1_by_one(n, largest));
    if (at_least_ < clear && 1 / (norm_ * inverse_norm_1_by_four(n, largest)) >= clear) {
      std::vector<T> more(3 * n), solutions(3 * n);
      fill_random(more, b.size());
      factor_->solve(Transpose::none, more.data(), solutions.data(), 3);
      raise(inverse_norm_1_by_four(n, std::max(largest, max_norm<T>(solutions))));
    }
    return {std::move(x), std::move(b)};
  }

  void solve(Transpose mode, std::span<const T> b, std::span<T> x, std::int64_t count) const override {
    const std::int64_t n = order();
    if (count < 0 || static_cast<std::int64_t>(b.size()) != n * count || b.size() != x.size())
      throw ArgumentError("sparse solve: " + std::to_string(count) + " right sides of length " + std::to_string(n) +
                          " do not fit arrays of " + std::to_string(b.size()) + " and " + std::to_string(x.size()));
    if (b.empty()) return;
    const FenvGuard guard;
    // M x = b is B (C^-1 x) = R b, and M^T x = b is B^T (R^-1 x) = C b. Where M = A^T, A^H x = b is M conj(x) =
    // conj(b).
    const bool conjugate = held_ == Held::transpose && mode == Transpose::conjugate_transpose && !is_real;
    if (held_ == Held::transpose) mode = mode == Transpose::none ? Transpose::transpose : Transpose::none;
    const auto& [before, after] =
        mode == Transpose::none ? std::tie(scaling_.row, scaling_.col) : std::tie(scaling_.col, scaling_.row);
    const auto scaled = std::make_unique_for_overwrite<T[]>(b.size());
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t i = 0; i < n; ++i)
        scaled[c * n + i] = (conjugate ? conj_of(b[c * n + i]) : b[c * n + i]) * before[i];
    factor_->solve(mode, scaled.get(), x.data(), count);
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t i = 0; i < n; ++i) x[c * n + i] = (conjugate ? conj_of(x[c * n + i]) : x[c * n + i]) * after[i];
  }

  std::int64_t order() const noexcept override { return static_cast<std::int64_t>(scaling_.row.size()); }
  double rcond() const override {
    const std::lock_guard lock(mutex_);
    if (!rcond_) rcond_ = estimated();
    return *rcond_;
  }
  double rcond_at_least() const noexcept override { return at_least_; }
  std::string_view method() const noexcept override { return method_; }
  std::string_view provider() const noexcept override { return factor_->provider(); }
  std::string_view reason() const noexcept override { return reason_; }
  std::int64_t factor_nnz() const noexcept override { return factor_->factor_nnz(); }

  const ProviderFactor<T>& provided() const noexcept { return *factor_; }
  const Scaling& scaling() const noexcept { return scaling_; }
  /// Keeps the pattern of B, by which the next matrix of its kind is known.
  void keep_pattern(CscMatrix<T, Index>&& b) {
    start_ = std::move(b.start);
    row_ = std::move(b.row);
  }
  /// Of the matrix that was factored; null where `m` has another pattern.
  std::shared_ptr<const Analysis> analysis_for(const CscMatrix<T, Index>& m) const {
    return start_ == m.start && row_ == m.row ? factor_->analysis() : nullptr;
  }

 private:
  static constexpr bool is_real = std::is_same_v<T, double>;

  double estimated() const {
    const FenvGuard guard;
    const std::int64_t n = order();
    if (n == 0) return 1;
    std::vector<T> work(n);
    const auto solve_in_place = [&](Transpose mode) {
      return [&, mode](std::vector<T>& x) {
        factor_->solve(mode, x.data(), work.data(), 1);
        x.swap(work);
      };
    };
    // Of the transpose, the conjugate will do as well: its inverse has the same norm.
    auto plain = solve_in_place(Transpose::none), adjoint = solve_in_place(Transpose::conjugate_transpose);
    const double harmless = 1 / (clearly_regular * norm_);
    const double inverse = held_ == Held::matrix ? inverse_norm_1<T>(n, plain, adjoint, harmless)
                                                 : inverse_norm_1<T>(n, adjoint, plain, harmless);
    const double r = 1 / norm_ / inverse;
    return r <= 1 ? r : r > 1 ? 1 : 0;  // the estimate is a lower bound, up to rounding; NaN counts as 0
  }

  std::unique_ptr<ProviderFactor<T>> factor_;
  std::vector<Index> start_, row_;
  Held held_;
  Scaling scaling_;
  double norm_, at_least_ = 0;
  std::string_view method_;
  std::string reason_;
  mutable std::mutex mutex_;
  mutable std::optional<double> rcond_{};
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
  return std::make_unique<EquilibratedFactor<T, std::int64_t>>(std::make_unique<EmptyFactor<T>>(), Held::matrix,
                                                               Scaling{}, 0, method, "nothing to factor");
}

}  // namespace rlx::linalg
