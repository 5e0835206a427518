// Work of a kernel that is cut into pieces, each with scratch memory of its thread.
#pragma once
#include "backends/cpu/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rlx::splat::cpu {

/// Runs work(i, scratch) for i in [0, count) on the pool, `bytes` of the `room` at `scratch` for each thread at work.
template <class F>
void each(std::int64_t count, std::byte* scratch, std::int64_t bytes, std::int64_t room, F work) {
  struct Shared {
    std::atomic<std::int64_t> next{0};
    std::int64_t count, bytes;
    std::byte* scratch;
    F& work;
  } shared{{}, count, bytes, scratch, work};
  // The number of threads may have grown since the workspace was planned.
  const std::int64_t threads = std::min<std::int64_t>(rlx::cpu::default_threads(), bytes ? room / bytes : count);
  rlx::cpu::parallel_for(
      std::min(threads, count), 1, static_cast<int>(threads),
      [](void* context, std::int64_t begin, std::int64_t end) {
        auto& s = *static_cast<Shared*>(context);
        for (std::int64_t slot = begin; slot < end; ++slot)
          for (std::int64_t i; (i = s.next.fetch_add(1, std::memory_order_relaxed)) < s.count;)
            s.work(i, s.scratch + slot * s.bytes);
      },
      &shared);
}

/// f(i) for i in [0, count) on the pool.
template <class F>
void in_parallel(std::int64_t count, const F& f) {
  rlx::cpu::parallel_for(
      count, 1, 0,
      [](void* context, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) (*static_cast<const F*>(context))(i);
      },
      const_cast<F*>(&f));
}

/// Gaussians that are worked on together: whole numbers of vectors, whatever the number of threads.
inline constexpr std::int64_t block_size = 1024;
inline std::int64_t blocks_of(std::int64_t count) { return (count + block_size - 1) / block_size; }

/// f(block, begin, end) for the blocks of [0, count) on the pool.
template <class F>
void in_blocks(std::int64_t count, const F& f) {
  in_parallel(blocks_of(count),
              [&](std::int64_t block) { f(block, block * block_size, std::min(count, (block + 1) * block_size)); });
}

inline std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace rlx::splat::cpu
