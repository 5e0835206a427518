#include "address_space.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <sched.h>
#include <sys/resource.h>

namespace rlx::cli {

namespace {

/// As OpenBLAS counts its threads: the first of these variables that is set, else the processors that it may use.
std::uint64_t blas_threads() {
  cpu_set_t allowed;
  const int processors = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const char* text = std::getenv(variable))
      if (const int n = std::atoi(text); n > 0) return static_cast<std::uint64_t>(std::min(n, processors));
  return static_cast<std::uint64_t>(processors);
}

}  // namespace

void check_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  // Libraries and the heap take about 300 MiB. A thread: 128 MiB of its own, its stack, and an arena of malloc.
  constexpr std::uint64_t base = 300ull << 20, each = 208ull << 20;
  const std::uint64_t wanted = base + each * blas_threads();
  if (limit.rlim_cur < wanted)
    throw MemoryError("the address space of this program (ulimit -v, OPENBLAS_NUM_THREADS threads of OpenBLAS)", wanted,
                      limit.rlim_cur);
}

}  // namespace rlx::cli
