#include "thread_pool.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <omp.h>
#include <pthread.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rlx::cpu {

#if defined(__x86_64__)
DefaultFloatEnvironment::DefaultFloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
DefaultFloatEnvironment::~DefaultFloatEnvironment() { _mm_setcsr(saved_); }
#else
// FIXME_CPU: other processors' control registers; until then the caller's environment is used as it is.
DefaultFloatEnvironment::DefaultFloatEnvironment() = default;
DefaultFloatEnvironment::~DefaultFloatEnvironment() = default;
#endif

int default_threads() {
  if (const char* text = std::getenv("RLX_THREADS"); text && *text) {
    int n = 0;
    const char* end = text + std::strlen(text);
    const auto r = std::from_chars(text, end, n);
    if (r.ec != std::errc{} || r.ptr != end || n < 1)
      throw ArgumentError("RLX_THREADS is \"" + std::string(text) + "\", expected a positive number");
    return n;
  }
  return omp_get_max_threads();
}

namespace {
/// The chunks [next, end) that one thread begins with, on a cache line of their own.
struct alignas(64) Part {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

/// In a process that was forked from one whose threads had run they do not exist, and GNU's OpenMP waits for them.
std::atomic<bool> has_threads{false}, has_lost_them{false};
const int watch_forks = ::pthread_atfork(nullptr, nullptr, [] { has_lost_them = has_threads.load(); });
}  // namespace

void parallel_for(std::int64_t extent, std::int64_t grain, int threads, ChunkBody body, void* context) {
  if (extent <= 0) return;
  grain = std::max<std::int64_t>(1, grain);
  const std::int64_t chunks = (extent - 1) / grain + 1;
  auto run = [=](std::int64_t chunk) { body(context, chunk * grain, std::min(extent, (chunk + 1) * grain)); };
  if (chunks > 1 && !omp_in_parallel() && !has_lost_them.load(std::memory_order_relaxed)) {
    if (threads == 0) threads = default_threads();
    threads = static_cast<int>(std::min<std::int64_t>(threads, chunks));
  } else threads = 1;
  if (threads <= 1) {
    const DefaultFloatEnvironment environment;
    for (std::int64_t c = 0; c < chunks; ++c) run(c);
    return;
  }
  has_threads.store(true, std::memory_order_relaxed);
  // A thread begins with neighbouring chunks of its own: what one asks for ahead of time is its next one's, and what a
  // kernel of the same extent left in its cache is there. Then it helps the others.
  std::vector<Part> parts(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) {
    Part& p = parts[static_cast<std::size_t>(t)];
    p.next = chunks * t / threads;
    p.end = chunks * (t + 1) / threads;
  }
#pragma omp parallel num_threads(threads)
  {
    const DefaultFloatEnvironment environment;
    const auto self = static_cast<std::size_t>(omp_get_thread_num());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      Part& p = parts[(self + k) % parts.size()];
      for (std::int64_t c; (c = p.next.fetch_add(1, std::memory_order_relaxed)) < p.end;) run(c);
    }
  }
}

}  // namespace rlx::cpu
