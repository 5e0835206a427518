// Keeps the caller's floating-point environment: flags, traps and rounding are after the scope what they were before.
#pragma once
#include <cfenv>

namespace rlx::linalg {

/// Library code divides by zero pivots on purpose; a caller who trapped on that must not see it (DESIGN.md section 2).
class FenvGuard {
 public:
  FenvGuard() noexcept { std::feholdexcept(&saved_); }
  ~FenvGuard() { std::fesetenv(&saved_); }
  FenvGuard(const FenvGuard&) = delete;
  FenvGuard& operator=(const FenvGuard&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace rlx::linalg
