// The execution space that hand-written host kernels run in, against loops and algorithms of the standard library.
#include "backends/cpu/kokkos/host_pool.hpp"

#include <rlx/ir/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

namespace rlx::cpu {
namespace {

using Kokkos::ChunkSize;
using Range = Kokkos::RangePolicy<HostPool>;

/// Extents around the chunk of 64 that the tests use, none among them.
constexpr std::int64_t extents[] = {0, 1, 63, 64, 65, 1000, 4096};

/// Numbers whose sum in floating point depends on how they are added.
std::vector<float> uneven(std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  std::uint32_t state = 12345;
  for (float& v : x) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(state >> 8) / static_cast<float>(1 + (state & 0xffff));
  }
  return x;
}

/// f(0) and f(1) inside a parallel region of OpenMP, as a caller may have one.
template <class F>
void in_a_region(F f) {
  parallel_for(2, 1, 2, [](void* p, std::int64_t begin, std::int64_t) { (*static_cast<F*>(p))(begin); }, &f);
}

TEST(HostPool, ForRunsEveryIndexOnce) {
  for (int threads : {1, 2, 4})
    for (std::int64_t n : extents) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
      Kokkos::parallel_for("test.for", Range(HostPool(threads), 3, n + 3, ChunkSize(64)),
                           [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i - 3)]; });
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& s) { return s == 1; })) << n;
    }
}

TEST(HostPool, ChunksWithoutASizeDoNotDependOnThreads) {
  const Range one(HostPool(1), 0, 100000), four(HostPool(4), 0, 100000);
  EXPECT_EQ(one.chunk_size(), four.chunk_size());
}

TEST(HostPool, ReducesToSumAndLeast) {
  for (int threads : {1, 2, 4})
    for (std::int64_t n : extents) {
      std::int64_t sum = -1, least = -1;
      Kokkos::parallel_reduce(
          "test.sum", Range(HostPool(threads), 0, n, ChunkSize(64)),
          [](std::int64_t i, std::int64_t& s) { s += i * i; }, sum);
      EXPECT_EQ(sum, n > 0 ? (n - 1) * n * (2 * n - 1) / 6 : 0);
      Kokkos::parallel_reduce(
          "test.least", Range(HostPool(threads), 0, n, ChunkSize(64)),
          [](std::int64_t i, std::int64_t& first) {
            if (i >= 40) first = std::min(first, i);
          },
          Kokkos::Min<std::int64_t>(least));
      EXPECT_EQ(least, n > 40 ? 40 : INT64_MAX);
    }
}

TEST(HostPool, ScansToPlacesAndTotal) {
  for (int threads : {1, 2, 4})
    for (std::int64_t n : extents) {
      std::vector<std::int64_t> x(static_cast<std::size_t>(n)), expected(x.size());
      std::iota(x.begin(), x.end(), 5);
      std::exclusive_scan(x.begin(), x.end(), expected.begin(), std::int64_t{0});
      const std::int64_t all = std::accumulate(x.begin(), x.end(), std::int64_t{0});
      const HostView<std::int64_t*> view(x.data(), x.size());
      const auto place = [=](std::int64_t i, std::int64_t& at, bool last) {
        const std::int64_t count = view(i);
        if (last) view(i) = at;
        at += count;
      };
      std::int64_t total = -1;
      Kokkos::parallel_scan("test.scan", Range(HostPool(threads), 0, n, ChunkSize(64)), place, total);
      EXPECT_EQ(x, expected);
      EXPECT_EQ(total, all);
      std::iota(x.begin(), x.end(), 5);
      Kokkos::parallel_scan("test.scan", Range(HostPool(threads), 0, n, ChunkSize(64)), place);
      EXPECT_EQ(x, expected);
    }
}

struct Sums {
  float all = 0;
  std::vector<float> running;
  bool operator==(const Sums&) const = default;
};
Sums sums_of(const std::vector<float>& x, int threads) {
  Sums s{0, std::vector<float>(x.size())};
  const Range range(HostPool(threads), 0, static_cast<std::int64_t>(x.size()), ChunkSize(64));
  Kokkos::parallel_reduce(
      "test.sum", range, [&](std::int64_t i, float& sum) { sum += x[static_cast<std::size_t>(i)]; }, s.all);
  Kokkos::parallel_scan("test.scan", range, [&](std::int64_t i, float& sum, bool last) {
    sum += x[static_cast<std::size_t>(i)];
    if (last) s.running[static_cast<std::size_t>(i)] = sum;
  });
  return s;
}

// Sums of chunks, added in the order of the chunks.
TEST(HostPool, SameBitsWithAnyNumberOfThreads) {
  const std::vector<float> x = uneven(5000);
  float expected = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += 64) {
    float chunk = 0;
    for (std::size_t i = begin; i < std::min(x.size(), begin + 64); ++i) chunk += x[i];
    expected += chunk;
  }
  const Sums one = sums_of(x, 1);
  EXPECT_EQ(one.all, expected);
  for (int threads : {2, 3, 4}) EXPECT_EQ(sums_of(x, threads), one) << threads;
  Sums inside[2];
  in_a_region([&](std::int64_t worker) { inside[worker] = sums_of(x, 4); });
  EXPECT_EQ(inside[0], one);
  EXPECT_EQ(inside[1], one);
}

TEST(HostPool, TwoThreadsCallAtOnce) {
  const std::vector<float> x = uneven(20000);
  const Sums expected = sums_of(x, 1);
  std::atomic<int> wrong{0};
  const auto work = [&] {
    for (int k = 0; k < 20; ++k)
      if (!(sums_of(x, 2) == expected)) ++wrong;
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HostPool, SerialInsideAParallelRegion) {
  std::atomic<int> elsewhere{0}, seen{0};
  in_a_region([&](std::int64_t) {
    const std::thread::id me = std::this_thread::get_id();
    const auto count = [&] {
      ++seen;
      if (std::this_thread::get_id() != me) ++elsewhere;
    };
    Kokkos::parallel_for("test.inner", Range(HostPool(4), 0, 100, ChunkSize(1)), [&](std::int64_t) { count(); });
    alignas(64) std::byte room[4 * 64];
    Kokkos::parallel_for("test.inner", team_policy(HostPool(room, sizeof room, 4), 100, 64),
                         [&](const HostTeam&) { count(); });
  });
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(seen, 2 * 2 * 100);
}

TEST(HostPool, TeamsHaveScratchOfTheirOwn) {
  constexpr std::int64_t floats = 100;
  for (int threads : {1, 2, 4})
    for (std::int64_t teams : {0, 1, 3, 200})
      for (int chunk : {1, 7}) {
        const std::int64_t bytes = threads * HostPool::scratch_of_thread(floats * 4);
        std::vector<std::byte> room(static_cast<std::size_t>(bytes + 128));
        void* scratch = room.data();
        std::size_t space = room.size();
        scratch = std::align(64, static_cast<std::size_t>(bytes), scratch, space);
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(teams));
        std::atomic<int> wrong{0};
        Kokkos::parallel_for("test.teams",
                             team_policy(HostPool(scratch, bytes, threads), teams, floats * 4).set_chunk_size(chunk),
                             [&](const HostTeam& team) {
                               auto* const mine = static_cast<float*>(team.team_shmem().get_shmem(floats * 4));
                               if (!mine || reinterpret_cast<std::uintptr_t>(mine) % 64 || team.team_size() != 1 ||
                                   team.league_size() != teams)
                                 ++wrong;
                               const auto rank = static_cast<float>(team.league_rank());
                               std::fill(mine, mine + floats, rank);
                               std::this_thread::yield();
                               if (std::any_of(mine, mine + floats, [rank](float x) { return x != rank; })) ++wrong;
                               if (team.team_shmem().get_shmem(64)) ++wrong;  // There is no more than was asked for.
                               ++seen[static_cast<std::size_t>(team.league_rank())];
                             });
        EXPECT_EQ(wrong, 0);
        EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& s) { return s == 1; })) << teams;
      }
}

// A workspace that was planned for fewer threads than there are is shared by those that it is enough for.
TEST(HostPool, TeamsAreNotMoreThanTheirScratch) {
  alignas(64) std::byte room[2 * 128];
  std::set<void*> parts;
  std::mutex guard;
  Kokkos::parallel_for("test.teams",
                       Kokkos::TeamPolicy<HostPool>(HostPool(room, sizeof room, 4), 100, 1)
                           .set_scratch_size(0, Kokkos::PerTeam(64))
                           .set_scratch_size(1, Kokkos::PerTeam(60)),
                       [&](const HostTeam& team) {
                         void *const low = team.team_scratch(0).get_shmem(64), *const high =
                                                                                   team.team_scratch(1).get_shmem(60);
                         const std::lock_guard lock(guard);
                         parts.insert({low, high});
                       });
  EXPECT_TRUE(parts.size() == 2 || parts.size() == 4) << parts.size();
  for (void* p : parts) EXPECT_EQ((static_cast<std::byte*>(p) - room) % 64, 0);
  const auto with_teams = [&](std::int64_t teams) {
    Kokkos::parallel_for("test.teams", team_policy(HostPool(room, 100), teams, 128), [](const HostTeam&) {});
  };
  EXPECT_THROW(with_teams(1), InternalError);
  EXPECT_NO_THROW(with_teams(0));
}

TEST(HostPool, RefusesWhatItDoesNotHave) {
  EXPECT_THROW(Kokkos::TeamPolicy<HostPool>(10, 2), InternalError);
  EXPECT_THROW(Kokkos::TeamPolicy<HostPool>(10, 1).set_scratch_size(2, Kokkos::PerTeam(8)), InternalError);
  EXPECT_THROW(team_policy(HostPool(), std::int64_t{1} << 31, 8), ArgumentError);
  EXPECT_THROW(team_policy(HostPool(), 8, std::int64_t{1} << 32), ArgumentError);
}

TEST(HostPool, BodiesHaveTheDefaultFloatingPointEnvironment) {
  const volatile float one = 1, three = 3;
  const float nearest = one / three;
  std::fesetround(FE_DOWNWARD);
  const float downward = one / three;
  std::atomic<int> other{0};
  Kokkos::parallel_for("test.rounding", Range(HostPool(2), 0, 8, ChunkSize(1)), [&](std::int64_t) {
    if (one / three != nearest) ++other;
  });
  const float after = one / three;
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(other, 0);
  EXPECT_NE(downward, nearest);
  EXPECT_EQ(after, downward);
}

}  // namespace
}  // namespace rlx::cpu
