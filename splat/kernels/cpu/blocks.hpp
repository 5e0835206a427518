// How Gaussians are cut for the threads, and workspaces for what lies in them.
#pragma once
#include "backends/cpu/kokkos/host_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace rlx::splat::cpu {

using rlx::cpu::HostPool;
using rlx::cpu::HostTeam;
using rlx::cpu::HostView;
using rlx::cpu::team_policy;
using Range = Kokkos::RangePolicy<HostPool>;

/// Gaussians that are worked on together: whole numbers of vectors, whatever the number of threads.
inline constexpr std::int64_t block_size = 1024;
inline std::int64_t blocks_of(std::int64_t count) { return (count + block_size - 1) / block_size; }

/// f(block, begin, end) for the blocks of [0, count).
template <class F>
void for_blocks(const std::string& name, std::int64_t count, const F& f) {
  Kokkos::parallel_for(name, Range(0, blocks_of(count), Kokkos::ChunkSize(1)), [&f, count](std::int64_t block) {
    f(block, block * block_size, std::min(count, (block + 1) * block_size));
  });
}

inline std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace rlx::splat::cpu
