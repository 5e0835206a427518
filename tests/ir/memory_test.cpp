// The room that is left, and that the largest request is judged before it is made.
#include <rlx/ir/error.hpp>
#include <rlx/ir/host_tensor.hpp>
#include <rlx/ir/memory.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace rlx {
namespace {

struct Limit {
  explicit Limit(const char* text) { ::setenv("RLX_MEMORY_LIMIT", text, 1); }
  ~Limit() { ::unsetenv("RLX_MEMORY_LIMIT"); }
};

constexpr std::int64_t mib = 1 << 20;

TEST(Memory, TheLimitCountsWhatTheProcessHolds) {
  const Limit limit("1G");
  const std::int64_t before = available_memory();
  EXPECT_LT(before, 1024 * mib);  // The process itself holds something.
  HostTensor x(DType::u8, {100 * mib});
  std::memset(x.mutable_data(), 1, static_cast<std::size_t>(x.bytes()));
  const std::int64_t held = before - available_memory();
  EXPECT_GE(held, 96 * mib);   // Counters of the system lag by some pages.
  EXPECT_LE(held, 120 * mib);  // The address sanitizer keeps a byte for every eight.
}

TEST(Memory, TensorsBeyondTheRoomAreRefused) {
  const Limit limit("64M");
  const std::int64_t room = available_memory();
  try {
    HostTensor x(DType::f64, {64 * mib / 8});
    FAIL() << "made with a room of " << room;
  } catch (const MemoryError& e) {
    EXPECT_EQ(e.wanted_bytes(), std::uint64_t{64} * mib);
    EXPECT_LT(e.available_bytes(), std::uint64_t{64} * mib);
    EXPECT_NE(std::string(e.what()).find("f64[8388608] under RLX_MEMORY_LIMIT=64M needs"), std::string::npos)
        << e.what();
  }
  EXPECT_NO_THROW(HostTensor(DType::f64, {100}));
}

TEST(Memory, MoreThanTheMachineHasIsRefused) {
  EXPECT_THROW(HostTensor(DType::f64, {1'000'000, 1'000'000}), MemoryError);
  const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  EXPECT_LE(available_memory(), pages);
}

TEST(Memory, MalformedLimitsAreRefused) {
  for (const char* text : {"lots", "-1", "1T", "1 G", "99999999999G", "1.5G"}) {
    const Limit limit(text);
    EXPECT_THROW(available_memory(), ArgumentError) << text;
  }
  for (const char* text : {"0", "1000000", "7K", ""}) {
    const Limit limit(text);
    EXPECT_NO_THROW(available_memory()) << text;
  }
}

}  // namespace
}  // namespace rlx
