// The programs behind a Solver, for one method and one matrix type.
#pragma once
#include <rlx/linalg/solver.hpp>
#include <rlx/runtime/catalog.hpp>
#include <rlx/runtime/executable.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace rlx::linalg {

struct Factored {
  HostValue factor;
  double rcond;                  ///< Or a bound from below, where that is above ill_conditioned.
  std::string provider, reason;  ///< Which library, and why that one; empty where the device does not say.
};

struct Solution {
  HostTensor x;
  double backward_error, relative_residual;  ///< The worst.
  std::int64_t worst = 0;                    ///< Which right side has the worst backward error.
  std::int64_t iterations = 0;
  double cg_residual = 0;   ///< In the 2-norm, by the recurrence.
  double cg_curvature = 1;  ///< At most 0: that of the direction after `iterations`, so A is not positive definite.
};

inline constexpr double ill_conditioned = 1e-10;  ///< Reciprocal condition below which a solver warns.

/// A program that is compiled when it is first wanted.
class LazyProgram {
 public:
  explicit LazyProgram(std::function<runtime::Executable()> make) : make_(std::move(make)) {}
  const runtime::Executable& get() const {
    // Not std::call_once: where what it calls throws, some implementations, and any under the thread sanitizer, let the
    // next caller wait for ever.
    const std::lock_guard lock(mutex_);
    if (!program_) program_.emplace(make_());
    return *program_;
  }

 private:
  std::function<runtime::Executable()> make_;
  mutable std::mutex mutex_;
  mutable std::optional<runtime::Executable> program_;
};

/// lu, cholesky: factor A -> F, rcond (a bound where that is above ill_conditioned); update F, A -> the same of the
/// next A; condition F -> rcond; solve F, A, b -> x, backward error, relative residual, for one b [n] or several [k,
/// n]. cg: solve A, b, x0 -> the same, iterations, residual of the recurrence, curvature of the last direction.
class SolverPrograms {
 public:
  SolverPrograms(SolveMethod method, const SparseType& a, const SolverOptions& options,
                 std::shared_ptr<runtime::Device> device);
  /// Those of an earlier solver, where one asked for the same.
  static std::shared_ptr<const SolverPrograms> of(SolveMethod method, const SparseType& a, const SolverOptions& options,
                                                  const std::shared_ptr<runtime::Device>& device);
  void compile_solve() const { solve_.get(); }  ///< What it throws is thrown now.
  Factored factor(const HostSparse& a) const;
  /// The same with what the factorization of an earlier matrix of this type learnt.
  Factored update(const HostValue& factor, const HostSparse& a) const;
  double rcond(const HostValue& factor) const;  ///< An estimate; NaN for cg.
  /// `factor` is not looked at by cg, which starts from zero and takes one right side. b is [n] or [k, n], k at most
  /// most_columns.
  Solution solve(const HostValue& factor, const HostSparse& a, HostTensor b) const;
  DispatchReport report() const;

  /// Bounds the programs, one a number of columns, and their results.
  static constexpr std::int64_t most_columns = 32;

 private:
  const LazyProgram& solve_of(std::int64_t columns) const;

  SolveMethod method_;
  LazyProgram solve_;
  std::function<runtime::Executable(std::int64_t columns)> make_solve_;
  mutable std::mutex mutex_{};
  mutable std::map<std::int64_t, LazyProgram> solve_many_{};
  std::optional<LazyProgram> factor_{}, update_{}, condition_{};
};

}  // namespace rlx::linalg
