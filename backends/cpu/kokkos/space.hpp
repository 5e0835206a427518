// The execution space itself.
#pragma once
#include "../thread_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

// The two interfaces for execution spaces that range.hpp, team.hpp and hooks.cpp know.
#if !(KOKKOS_VERSION >= 30400 && KOKKOS_VERSION < 30500) && !(KOKKOS_VERSION >= 40100 && KOKKOS_VERSION < 50000)
#error "the host pool is written for Kokkos 3.4 and 4.1 to 4.x: adapt backends/cpu/kokkos to this version"
#endif

namespace rlx::cpu {

/// Runs patterns by parallel_for of thread_pool.hpp and so as it does: on the one pool of the process, serially inside
/// a caller's parallel region, with the default floating-point environment, in chunks that are a policy's and not the
/// number of threads'. Patterns return when all is done. Reductions and scans join the values of chunks in their order:
/// no bit depends on the number of threads. Bodies must not throw.
class HostPool {
 public:
  using execution_space = HostPool;
  using memory_space = Kokkos::HostSpace;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using array_layout = Kokkos::LayoutRight;
  using size_type = std::int64_t;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<HostPool>;

  /// On up to so many threads (0: default_threads).
  explicit HostPool(int threads = 0) : threads_(threads) {}
  /// With memory of the caller's, of which each thread at work has a part for its teams: a kernel's workspace, which
  /// the compiler has planned. It begins at a multiple of scratch_alignment.
  HostPool(void* scratch, std::int64_t bytes, int threads = 0)
      : scratch_(static_cast<std::byte*>(scratch)), scratch_bytes_(bytes), threads_(threads) {}

  static constexpr std::int64_t scratch_alignment = 64;
  /// What one thread needs for teams of so many bytes, and what a workspace has for all threads.
  static std::int64_t scratch_of_thread(std::int64_t team_bytes) {
    return (team_bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
  }
  static std::int64_t planned_scratch(std::int64_t team_bytes) {
    return default_threads() * scratch_of_thread(team_bytes);
  }

  int threads() const { return threads_; }
  std::byte* scratch() const { return scratch_; }
  std::int64_t scratch_bytes() const { return scratch_bytes_; }

  // What Kokkos asks of a space.
  static const char* name() { return "rlx::cpu::HostPool"; }
  /// From this Kokkos derives chunks where a policy has none; nominal, since no chunk depends on the threads there are.
  static int concurrency() { return 4; }
  static void impl_static_fence(const std::string& = {}) {}
  void fence(const std::string& = {}) const {}
  std::uint32_t impl_instance_id() const { return 0; }
  bool operator==(const HostPool&) const = default;

 private:
  std::byte* scratch_ = nullptr;
  std::int64_t scratch_bytes_ = 0;
  int threads_;
};

}  // namespace rlx::cpu

template <>
struct Kokkos::Tools::Experimental::DeviceTypeTraits<rlx::cpu::HostPool> {
  static constexpr DeviceType id = DeviceType::OpenMP;
  static int device_id(const rlx::cpu::HostPool&) { return 0; }
};

/// Scratch memory of a team is host memory: views may lie in it.
template <>
struct Kokkos::Impl::MemorySpaceAccess<Kokkos::HostSpace, rlx::cpu::HostPool::scratch_memory_space> {
  static constexpr bool assignable = false, accessible = true, deepcopy = false;
};
