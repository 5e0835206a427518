// Leagues of teams on the host pool: pieces of work that need scratch memory. A team is one thread. Each thread at work
// takes the next team, so that long ones are balanced, and has one part of the space's scratch memory for all its
// teams.
#pragma once
#include "space.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <string>

namespace rlx::cpu {

/// What a body is called with: [=](const HostTeam& team) { ... team.league_rank() ... team.team_scratch(0) ... }
class HostTeam {
 public:
  using execution_space = HostPool;
  using scratch_memory_space = HostPool::scratch_memory_space;
  using team_handle = HostTeam;

  HostTeam(int rank, int size, const scratch_memory_space& scratch) : rank_(rank), size_(size), scratch_(scratch) {}
  int league_rank() const { return rank_; }
  int league_size() const { return size_; }
  int team_rank() const { return 0; }
  int team_size() const { return 1; }
  void team_barrier() const {}
  const scratch_memory_space& team_shmem() const { return team_scratch(0); }
  const scratch_memory_space& team_scratch(int level) const { return scratch_.set_team_thread_mode(level, 1, 0); }
  const scratch_memory_space& thread_scratch(int level) const { return team_scratch(level); }

 private:
  int rank_, size_;
  scratch_memory_space scratch_;
};

}  // namespace rlx::cpu

/// The policy: Kokkos' TeamPolicy<HostPool> is made of it.
template <class... Properties>
class Kokkos::Impl::TeamPolicyInternal<rlx::cpu::HostPool, Properties...> : public PolicyTraits<Properties...> {
 public:
  using traits = PolicyTraits<Properties...>;
  using execution_policy = TeamPolicyInternal;
  using execution_space = rlx::cpu::HostPool;
  using index_type = typename traits::index_type;
  using member_type = rlx::cpu::HostTeam;

  TeamPolicyInternal(const execution_space& space, int league_size, int team_size, int = 1)
      : space_(space), league_size_(league_size) {
    if (team_size > 1) throw rlx::InternalError("teams of the host pool are single threads");
  }
  TeamPolicyInternal(const execution_space& space, int league_size, const AUTO_t&, int = 1)
      : TeamPolicyInternal(space, league_size, 1) {}
  TeamPolicyInternal(int league_size, int team_size, int = 1)
      : TeamPolicyInternal(execution_space(), league_size, team_size) {}
  TeamPolicyInternal(int league_size, const AUTO_t&, int = 1) : TeamPolicyInternal(league_size, 1) {}
  template <class... Others>
  TeamPolicyInternal(const TeamPolicyInternal<rlx::cpu::HostPool, Others...>& other)
      : traits(other), space_(other.space()), league_size_(other.league_size()), chunk_size_(other.chunk_size()) {
    for (int level = 0; level < 2; ++level) bytes_[level] = static_cast<std::int64_t>(other.scratch_size(level));
  }

  const execution_space& space() const { return space_; }
  int league_size() const { return league_size_; }
  int team_size() const { return 1; }
  int impl_vector_length() const { return 1; }
  bool impl_auto_team_size() const { return false; }
  bool impl_auto_vector_length() const { return false; }
  /// Teams that a thread takes at a time.
  int chunk_size() const { return chunk_size_; }
  TeamPolicyInternal& set_chunk_size(int teams) {
    chunk_size_ = std::max(1, teams);
    return *this;
  }
  /// Bytes of a team on a level, 0 or 1, which are one memory here.
  std::size_t scratch_size(int level, int = 0) const { return static_cast<std::size_t>(bytes_[level != 0]); }
  TeamPolicyInternal& set_scratch_size(int level, const PerTeamValue& team) { return set_bytes(level, team.value); }
  TeamPolicyInternal& set_scratch_size(int level, const PerThreadValue& thread) {
    return set_bytes(level, thread.value);
  }
  TeamPolicyInternal& set_scratch_size(int level, const PerTeamValue& team, const PerThreadValue& thread) {
    return set_bytes(level, static_cast<std::int64_t>(team.value) + static_cast<std::int64_t>(thread.value));
  }

 private:
  TeamPolicyInternal& set_bytes(int level, std::int64_t bytes) {
    bytes_[level != 0] = rlx::cpu::HostPool::scratch_of_thread(bytes);
    return *this;
  }
  execution_space space_;
  int league_size_, chunk_size_ = 1;
  std::int64_t bytes_[2] = {};
};

template <class F, class... Properties>
class Kokkos::Impl::ParallelFor<F, Kokkos::TeamPolicy<Properties...>, rlx::cpu::HostPool> {
 public:
  using Policy = Kokkos::TeamPolicy<Properties...>;
  ParallelFor(const F& body, const Policy& policy) : body_(body), policy_(policy) {
    static_assert(std::is_void_v<typename Policy::work_tag>, "bodies for the host pool have no tags");
  }

  /// Throws InternalError if the scratch memory is too small for one thread.
  void execute() const {
    const rlx::cpu::HostPool& pool = policy_.space();
    const std::int64_t bytes = level_bytes(0) + level_bytes(1), grain = policy_.chunk_size(),
                       tasks = (policy_.league_size() + grain - 1) / grain;
    if (tasks <= 0) return;
    std::int64_t threads = pool.threads() > 0 ? pool.threads() : rlx::cpu::default_threads();
    if (bytes > 0) threads = std::min(threads, pool.scratch_bytes() / bytes);  // More threads than were planned for.
    if (threads < 1)
      throw rlx::InternalError("a team needs " + std::to_string(bytes) + " bytes of scratch memory, the space has " +
                               std::to_string(pool.scratch_bytes()));
    std::atomic<std::int64_t> next{0};
    auto work = [&](std::int64_t worker) {
      for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;)
        for (std::int64_t team = task * grain; team < std::min<std::int64_t>(policy_.league_size(), (task + 1) * grain);
             ++team)
          run(static_cast<int>(team), pool.scratch() + worker * bytes);
    };
    rlx::cpu::parallel_for(
        std::min(threads, tasks), 1, static_cast<int>(threads),
        [](void* w, std::int64_t worker, std::int64_t) { (*static_cast<decltype(work)*>(w))(worker); }, &work);
  }

 private:
  std::int64_t level_bytes(int level) const { return static_cast<std::int64_t>(policy_.scratch_size(level)); }
  void run(int team, std::byte* scratch) const {
    body_(rlx::cpu::HostTeam(team, policy_.league_size(),
                             {scratch, level_bytes(0), scratch + level_bytes(0), level_bytes(1)}));
  }
  const F body_;
  const Policy policy_;
};

namespace rlx::cpu {

/// A league of so many teams, each with `bytes` of the pool's scratch memory, which a body gets by
/// team.team_scratch(0).get_shmem(bytes). Throws ArgumentError where Kokkos, which counts both by int, would not
/// notice.
inline Kokkos::TeamPolicy<HostPool> team_policy(const HostPool& pool, std::int64_t teams, std::int64_t bytes) {
  if (std::max(teams, bytes) > INT_MAX - HostPool::scratch_alignment)
    throw ArgumentError(std::to_string(teams) + " teams with " + std::to_string(bytes) +
                        " bytes each are more than Kokkos counts");
  return Kokkos::TeamPolicy<HostPool>(pool, static_cast<int>(teams), 1)
      .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes)));
}

}  // namespace rlx::cpu
