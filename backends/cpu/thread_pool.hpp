// The host's threads: OpenMP's, used only through this function, which calls generated code for ranges of units: that
// code knows no OpenMP interface, and a program shares one pool with the rest of its process.
#pragma once
#include <rlx/ir/export.hpp>

#include <cstdint>

namespace rlx::cpu {

/// Runs units [begin, end). Must not throw.
using ChunkBody = void (*)(void* context, std::int64_t begin, std::int64_t end);

/// Cuts [0, extent) into chunks of `grain` units, whatever the number of threads, and runs them on up to `threads`
/// threads (0: default_threads) in any order, neighbouring chunks on one thread as long as all have some of their own;
/// serially inside a parallel region of the caller, and in a process forked after this one's threads ran. Every chunk
/// runs with the default floating-point environment, and the caller's is restored.
/// Hand-written kernels call it through the execution space of kokkos/host_pool.hpp.
RLX_API void parallel_for(std::int64_t extent, std::int64_t grain, int threads, ChunkBody body, void* context);

/// RLX_THREADS, else what OpenMP would use. Throws ArgumentError if the variable is no positive number.
RLX_API int default_threads();

/// Rounding to nearest, no traps, subnormals kept, while it lives; then what the caller had, flags included.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment();
  ~DefaultFloatEnvironment();
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  unsigned saved_ = 0;
};

}  // namespace rlx::cpu
