// LIR programs that break one rule each: of their places in the arena.
#include "lir_program.hpp"

#include <gtest/gtest.h>

namespace rlx::testing_kernels {
namespace {

TEST(VerifyProgram, OutsideTheArena) {
  for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{1024}, std::int64_t{1024 - 64 + 1}, INT64_MAX - 8}) {
    LirProgram p;
    p.kernel({}, {p.buffer(16, offset)});
    EXPECT_EQ(p.refused(small_arena), "arena") << offset;
  }
}

TEST(VerifyProgram, NotAligned) {
  LirProgram p;
  p.kernel({}, {p.buffer(16, 32)});
  EXPECT_EQ(p.refused(), "");
  EXPECT_EQ(p.refused(small_arena), "alignment");
}

TEST(VerifyProgram, TwoLiveBuffersInTheSameBytes) {
  for (const std::int64_t offset : {0, 64, 128}) {
    LirProgram p;
    const Value a = p.buffer(32, 0), c = p.buffer(16, offset), y = p.output(16);
    p.kernel({}, {a});
    p.kernel({}, {c});
    p.kernel({a, c}, {y});
    EXPECT_EQ(p.refused(small_arena), offset < 128 ? "overlap" : "");
  }
}

TEST(VerifyProgram, AStepThatWritesOverWhatItReads) {
  LirProgram p;
  const Value a = p.buffer(16, 0), c = p.buffer(16, 0);
  p.kernel({}, {a});
  p.kernel({a}, {c});
  EXPECT_EQ(p.refused(small_arena), "overlap");
}

TEST(VerifyProgram, TwoWritesOfOneStepInTheSameBytes) {
  LirProgram p;
  p.kernel({}, {p.buffer(16, 0), p.buffer(16, 0)});
  EXPECT_EQ(p.refused(small_arena), "overlap");
}

TEST(VerifyProgram, BuffersOneAfterTheOtherShareBytes) {
  LirProgram p;
  const Value a = p.buffer(16, 0), c = p.buffer(16, 64), d = p.buffer(16, 0);
  p.kernel({}, {a});
  p.kernel({a}, {c});
  p.kernel({c}, {d});
  EXPECT_EQ(p.refused(small_arena), "");
}

// The first trip is right; the second finds another buffer's bytes in what it reads.
TEST(VerifyProgram, ALoopThatOverwritesWhatItsNextTripReads) {
  for (const std::int64_t offset : {0, 256}) {
    LirProgram p;
    const Value x = p.buffer(16, 0), y = p.output(16);
    p.kernel({}, {x});
    p.kernel({}, {y});
    p.loop(
        [&] {
          const Value f = p.flag(512);
          p.kernel({}, {f}, [](const Body& k) { k.store(0, k.index[0], k.number(DType::boolean, 0)); });
          return f;
        },
        [&] {
          p.kernel({x}, {y});
          p.kernel({}, {p.buffer(16, offset)});
        });
    EXPECT_EQ(p.refused(small_arena), offset == 0 ? "overlap" : "");
  }
}

TEST(VerifyProgram, ABranchThatOverwritesWhatIsReadAfterIt) {
  LirProgram p;
  const Value x = p.buffer(16, 0), f = p.flag(512), y = p.output(16);
  p.kernel({}, {x});
  p.kernel({}, {f}, [](const Body& k) { k.store(0, k.index[0], k.number(DType::boolean, 1)); });
  p.branch(f, [] {}, [&] { p.kernel({}, {p.buffer(16, 0)}); });
  p.kernel({x}, {y});
  EXPECT_EQ(p.refused(small_arena), "overlap");
}

}  // namespace
}  // namespace rlx::testing_kernels
