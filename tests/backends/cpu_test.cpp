// The host device: memory, cached code, threads, and being a guest in the caller's process.
#include "backends/cpu/cpu_device.hpp"
#include "backends/cpu/memory.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "tests/compile/kernel_program.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rlx::testing_kernels {
namespace {

namespace fs = std::filesystem;

class CpuCache : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rlx_cpu_test." + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::shared_ptr<cpu::CpuDevice> device(std::int64_t limit = 1 << 20) const {
    return cpu::open_device({.cache = runtime::DiskCache::Options{folder_, limit}});
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto& e : fs::directory_iterator(folder_)) all.push_back(e.path());
    return all;
  }
  fs::path folder_;
};

Program doubling(double factor = 2, std::int64_t n = 40) {
  Program p;
  const std::vector<Value> b = {p.buffer(DType::f32, n), p.buffer(DType::f32, n)};
  p.kernel({n}, b, 1, [factor](const Body& k) {
    k.store(1, k.index[0], k.mul(k.load(0, k.index[0]), k.number(DType::f32, factor)));
  });
  return p;
}
HostTensor ramp(std::int64_t n = 40) {
  HostTensor x(DType::f32, {n});
  for (std::int64_t i = 0; i < n; ++i) x.set_f64(i, static_cast<double>(i));
  return x;
}
void expect_doubled(runtime::Device& d, const Program& p, double factor = 2) {
  const auto r = run(d, p.graph(), {ramp(), HostTensor(DType::f32, {40})});
  for (std::int64_t i = 0; i < 40; ++i) ASSERT_EQ(r[1].get_f64(i), factor * static_cast<double>(i));
}

TEST_F(CpuCache, SecondCompileHits) {
  const Program p = doubling();
  auto first = device();
  expect_doubled(*first, p);
  EXPECT_EQ(first->cache().counters().misses, 1);
  ASSERT_EQ(entries().size(), 1u);
  auto second = device();
  expect_doubled(*second, p);
  EXPECT_EQ(second->cache().counters().hits, 1);
  // Another constant is another key; so is another level.
  expect_doubled(*second, doubling(3), 3);
  EXPECT_EQ(second->cache().counters().misses, 1);
  EXPECT_EQ(entries().size(), 2u);
  auto generic =
      cpu::open_device({.isa = emit_llvm::Isa::generic, .cache = runtime::DiskCache::Options{folder_, 1 << 20}});
  expect_doubled(*generic, p);
  EXPECT_EQ(entries().size(), 3u);
}

TEST_F(CpuCache, DamagedEntriesAreMadeAgain) {
  const Program p = doubling();
  expect_doubled(*device(), p);
  const fs::path entry = entries().at(0);
  const auto size = fs::file_size(entry);
  for (int damage = 0; damage < 4; ++damage) {
    if (damage == 0) fs::resize_file(entry, size / 2);
    if (damage == 1) std::ofstream(entry, std::ios::trunc) << "";
    if (damage >= 2) {
      std::fstream f(entry, std::ios::in | std::ios::out | std::ios::binary);
      f.seekp(damage == 2 ? static_cast<std::streamoff>(size - 100) : 10);
      f.put('\x55');
    }
    auto d = device();
    expect_doubled(*d, p);
    EXPECT_EQ(d->cache().counters().corrupt, 1) << damage;
    EXPECT_EQ(fs::file_size(entry), size);
    auto again = device();
    expect_doubled(*again, p);
    EXPECT_EQ(again->cache().counters().hits, 1);
  }
}

TEST_F(CpuCache, APipeInTheWayIsNotWaitedFor) {
  const Program p = doubling();
  expect_doubled(*device(), p);
  const fs::path entry = entries().at(0);
  fs::remove(entry);
  ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0);
  auto d = device();
  expect_doubled(*d, p);
  EXPECT_EQ(d->cache().counters().corrupt, 1);
  EXPECT_TRUE(fs::is_regular_file(entry));
}

TEST_F(CpuCache, FolderThatCannotBeWrittenIsDoneWithout) {
  // A file where the folder should be refuses root as well.
  std::ofstream(folder_) << "in the way";
  auto d = device();
  expect_doubled(*d, doubling());
  EXPECT_EQ(d->cache().counters().not_written, 1);
  EXPECT_EQ(d->cache().counters().misses, 1);
}

TEST_F(CpuCache, OldestGoFirst) {
  auto d = device(9000);
  for (int i = 0; i < 40; ++i) expect_doubled(*d, doubling(i), i);
  std::int64_t total = 0;
  for (const fs::path& e : entries()) total += static_cast<std::int64_t>(fs::file_size(e));
  EXPECT_GT(d->cache().counters().evicted, 0);
  EXPECT_LT(total, 9000 + 17 * 4000);
}

TEST(CpuDevice, MemoryThatIsNotThereIsRefused) {
  ::setenv("RLX_MEMORY_LIMIT", "64M", 1);
  auto d = device_of(emit_llvm::Isa::generic);
  try {
    d->allocate(1 << 30);
    ADD_FAILURE() << "1 GiB under a limit of 64 MiB";
  } catch (const MemoryError& e) {
    EXPECT_EQ(e.wanted_bytes(), 1u << 30);
    EXPECT_LE(e.available_bytes(), 64u << 20);
  }
  ::unsetenv("RLX_MEMORY_LIMIT");
  EXPECT_THROW(d->allocate(std::int64_t{1} << 50), MemoryError);
  const runtime::Allocation a = d->allocate(5 << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.handle) % (2 << 20), 0u);
  d->release(a);
  const runtime::Allocation none = d->allocate(0);
  EXPECT_NE(none.handle, nullptr);
  d->release(none);
}

TEST(CpuDevice, SettingsAreChecked) {
  ::setenv("RLX_ISA", "mmx", 1);
  EXPECT_THROW(cpu::open_device(), ArgumentError);
  ::setenv("RLX_ISA", "scalar", 1);
  EXPECT_EQ(cpu::open_device()->machine().isa, emit_llvm::Isa::generic);
  ::unsetenv("RLX_ISA");
  ::setenv("RLX_THREADS", "0", 1);
  EXPECT_THROW(cpu::open_device(), ArgumentError);
  ::setenv("RLX_THREADS", "3", 1);
  EXPECT_EQ(cpu::default_threads(), 3);
  ::unsetenv("RLX_THREADS");
}

// The module is shared; programs of the same kernel names live side by side and go in any order.
TEST(CpuDevice, LaunchesFromSeveralThreads) {
  auto d = device_of(emit_llvm::best_host_isa(), 2);
  const Program two = doubling(2), three = doubling(3);
  auto first = d->compile(two.graph()), second = d->compile(three.graph());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const runtime::Allocation x = d->allocate(160), y = d->allocate(160);
      d->upload(x, 0, ramp().data(), 160);
      const runtime::KernelBuffer b[] = {{&x, 0}, {&y, 0}};
      for (int r = 0; r < 200; ++r) {
        (t % 2 ? second : first)->launch(0, b);
        if (static_cast<float*>(y.handle)[39] != 39.f * (t % 2 ? 3 : 2)) ++wrong;
      }
      d->release(x);
      d->release(y);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  first.reset();
  auto third = d->compile(two.graph());
  EXPECT_NE(third->code(), nullptr);
  second.reset();
  expect_doubled(*d, three, 3);
}

TEST(CpuThreads, ChunksDoNotDependOnThreads) {
  for (int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> seen(103);
    struct Context {
      std::vector<std::atomic<int>>& seen;
      std::atomic<int> odd{0};
    } c{seen};
    cpu::parallel_for(
        103, 10, threads,
        [](void* p, std::int64_t begin, std::int64_t end) {
          auto& context = *static_cast<Context*>(p);
          if (begin % 10 || (end != 103 && end != begin + 10)) ++context.odd;
          for (std::int64_t i = begin; i < end; ++i) ++context.seen[static_cast<std::size_t>(i)];
        },
        &c);
    EXPECT_EQ(c.odd, 0);
    for (auto& s : seen) EXPECT_EQ(s, 1);
  }
  cpu::parallel_for(0, 1, 0, [](void*, std::int64_t, std::int64_t) { ADD_FAILURE(); }, nullptr);
}

// Each of two threads begins at its own half, and the one that is done first takes over what the other has left.
TEST(CpuThreads, NeighbouringChunksAreOneThreads) {
  struct Context {
    std::atomic<int> begun{0}, done{0};
    std::thread::id by[8];
    static bool wait_for(const std::atomic<int>& count, int wanted) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (count < wanted && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      return count >= wanted;
    }
  } c;
  cpu::parallel_for(
      8, 1, 2,
      [](void* p, std::int64_t begin, std::int64_t) {
        auto& context = *static_cast<Context*>(p);
        context.by[begin] = std::this_thread::get_id();
        if (begin % 4 == 0) {
          ++context.begun;
          EXPECT_TRUE(Context::wait_for(context.begun, 2)) << "both threads begin at once";
        }
        if (begin == 4) { EXPECT_TRUE(Context::wait_for(context.done, 7)) << "all others are the first thread's"; }
        ++context.done;
      },
      &c);
  for (int chunk = 0; chunk < 8; ++chunk) EXPECT_EQ(c.by[chunk] == c.by[0], chunk != 4) << chunk;
}

TEST(CpuThreads, SerialInsideAParallelRegion) {
  std::atomic<int> others{0};
  cpu::parallel_for(
      8, 1, 2,
      [](void* outer, std::int64_t, std::int64_t) {
        struct Context {
          std::thread::id me;
          std::atomic<int>& others;
        } c{std::this_thread::get_id(), *static_cast<std::atomic<int>*>(outer)};
        cpu::parallel_for(
            50, 1, 4,
            [](void* inner, std::int64_t, std::int64_t) {
              auto& context = *static_cast<Context*>(inner);
              if (std::this_thread::get_id() != context.me) ++context.others;
            },
            &c);
      },
      &others);
  EXPECT_EQ(others, 0);
}

// A forked process has none of the threads that ran in its parent: it does not wait for them.
TEST(CpuThreads, AForkedProcessDoesTheWork) {
  const auto sum = [] {
    std::atomic<int> chunks{0};
    cpu::parallel_for(
        64, 1, 2, [](void* p, std::int64_t, std::int64_t) { ++*static_cast<std::atomic<int>*>(p); }, &chunks);
    return chunks.load();
  };
  ASSERT_EQ(sum(), 64);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(30);
    ::_exit(sum());
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 64);
  EXPECT_EQ(sum(), 64);
}

// Kernels neither see the caller's rounding mode nor leave flags behind, nor trap where the caller traps.
TEST(CpuThreads, FloatingPointEnvironmentIsTheCallers) {
  auto d = device_of(emit_llvm::best_host_isa(), 2);
  Program p;
  const std::vector<Value> b = {p.buffer(DType::f32, 40), p.buffer(DType::f32, 40)};
  p.kernel({40}, b, 1, [](const Body& k) {
    const Value x = k.load(0, k.index[0]);
    k.store(1, k.index[0],
            k.add(k.op("div", {k.number(DType::f32, 1), x}), k.op("log", {k.sub(x, k.number(DType::f32, 3))})));
  });
  const auto expected = run(*d, p.graph(), {ramp(), HostTensor(DType::f32, {40})});
  std::feclearexcept(FE_ALL_EXCEPT);
  std::fesetround(FE_UPWARD);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  const auto got = run(*d, p.graph(), {ramp(), HostTensor(DType::f32, {40})});
  fedisableexcept(FE_ALL_EXCEPT);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW), 0);
  EXPECT_TRUE(got[1].identical(expected[1]));
}

}  // namespace
}  // namespace rlx::testing_kernels
