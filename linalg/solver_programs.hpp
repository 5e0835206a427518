// The programs behind a Solver, for one method and one matrix type.
#pragma once
#include <rlx/linalg/solver.hpp>
#include <rlx/runtime/catalog.hpp>
#include <rlx/runtime/executable.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace rlx::linalg {

struct Factored {
  HostValue factor;
  double rcond;
  std::string provider, reason;  ///< Which library, and why that one; empty where the device does not say.
};

struct Solution {
  HostTensor x;
  double backward_error, relative_residual;
  std::int64_t iterations = 0;
  double cg_residual = 0;   ///< In the 2-norm, by the recurrence.
  double cg_curvature = 1;  ///< At most 0: that of the direction after `iterations`, so A is not positive definite.
};

/// lu, cholesky: factor A -> F, rcond; update F, A -> F, rcond; solve F, A, b -> x, backward error, relative residual.
/// cg: solve A, b, x0 -> the same, iterations, residual of the recurrence, curvature of the last direction.
class SolverPrograms {
 public:
  SolverPrograms(SolveMethod method, const SparseType& a, const SolverOptions& options,
                 std::shared_ptr<runtime::Device> device);
  Factored factor(const HostSparse& a) const;
  /// The same with what the factorization of an earlier matrix of this type learnt.
  Factored update(const HostValue& factor, const HostSparse& a) const;
  /// `factor` is not looked at by cg, which starts from zero.
  Solution solve(const HostValue& factor, const HostSparse& a, HostTensor b) const;
  DispatchReport report() const;

 private:
  SolveMethod method_;
  std::function<runtime::Executable()> make_update_{};  ///< Many a solver never updates.
  mutable std::once_flag update_wanted_;
  mutable std::optional<runtime::Executable> update_;
  std::optional<runtime::Executable> factor_, solve_;
};

}  // namespace rlx::linalg
