// The multiply-add peak of this processor, by which matrix products are measured.
#pragma once
#include "backends/cpu/jit.hpp"
#include "compile/emit_llvm/emit_llvm.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace rlx::bench {

/// Of one call: one thread by its processor time, which other processes disturb less; more by the wall clock.
double seconds(int threads, const std::function<void()>& f);

/// Multiply-adds in registers, without memory: the rate that no product exceeds.
class FmaPeak {
 public:
  FmaPeak(bool f64, const emit_llvm::Machine& machine);
  /// GFLOP/s over about `flops` on each thread.
  double rate(double flops, int threads) const;
  /// Of the first moments, before the clock, which loads beside multiply-adds lower, has risen again: the fastest of
  /// three slices of some 25 us, since the first one finds cold caches.
  double rate_at_once(int threads) const;
  double slice() const { return 15000 * flops_; }  ///< What that time takes.

 private:
  static constexpr int chains = 12;
  std::unique_ptr<cpu::LoadedCode> code_;
  void (*run_)(std::int64_t, void*) = nullptr;
  double flops_ = 0;  ///< Of a turn of the loop.
};

}  // namespace rlx::bench
