// LIR programs that break one rule each.
#include "lir_program.hpp"

#include <gtest/gtest.h>

namespace rlx {
namespace {

using compile::MemoryPlan;
using KernelBody = testing_kernels::Body;
using testing_kernels::LirProgram;

constexpr MemoryPlan small{1024};

TEST(VerifyProgram, AWholeProgramPasses) {
  LirProgram p;
  const Value x = p.input(16), t = p.buffer(16, 0), y = p.output(16);
  p.kernel({x}, {t});
  p.kernel({t}, {y});
  p.check();
  p.check(small);
}

TEST(VerifyProgram, ReadBeforeWritten) {
  LirProgram p;
  const Value t = p.buffer(16, 0), y = p.output(16);
  p.kernel({t}, {y});
  p.kernel({}, {t});
  EXPECT_EQ(p.refused(), "written");
}

TEST(VerifyProgram, AnOutputThatNothingWrites) {
  LirProgram p;
  p.output(16);
  EXPECT_EQ(p.refused(), "written");
}

TEST(VerifyProgram, AnEmptyBufferNeedsNoWriter) {
  LirProgram p;
  p.output(0);
  EXPECT_EQ(p.refused(), "");
}

TEST(VerifyProgram, TheErrorNamesStepAndBuffers) {
  LirProgram p;
  const Value t = p.buffer(16, 0), y = p.output(16);
  p.kernel({t}, {y});
  try {
    p.check();
    FAIL();
  } catch (const VerifyError& e) {
    EXPECT_EQ(std::string(e.what()),
              "lir.kernel k0: written: reads what nothing has written\n  %0 f32[16]@device  bytes 0 to 64");
    EXPECT_EQ(e.op(), "lir.kernel");
  }
}

TEST(VerifyProgram, ACallRunsTheKernelThatMakesItsOperand) {
  LirProgram p;
  const Value x = p.input(16), t = p.buffer(16, -1, lir::Lifetime::piecewise), y = p.output(16);
  p.call({t}, {y}, {p.kernel({x}, {t})});
  p.check();
  p.check(small);
}

TEST(VerifyProgram, APrologueThatItsCallDoesNotName) {
  LirProgram p;
  const Value x = p.input(16), t = p.buffer(16, -1, lir::Lifetime::piecewise), y = p.output(16);
  p.kernel({x}, {t});
  p.call({t}, {y}, {});
  EXPECT_EQ(p.refused(), "prologue");
}

TEST(VerifyProgram, ACallThatNamesAPrologueThatIsNotThere) {
  LirProgram p;
  const Value x = p.input(16), y = p.output(16);
  p.call({x}, {y}, {"k7"});
  EXPECT_EQ(p.refused(), "prologue");
}

TEST(VerifyProgram, APrologueWithoutACall) {
  LirProgram p;
  const Value x = p.input(16), t = p.buffer(16, -1, lir::Lifetime::piecewise), y = p.output(16);
  p.kernel({x}, {y});
  p.kernel({x}, {t});
  EXPECT_EQ(p.refused(), "prologue");
}

TEST(VerifyProgram, AStepThatReadsAPiecewiseBuffer) {
  LirProgram p;
  const Value x = p.input(16), t = p.buffer(16, -1, lir::Lifetime::piecewise), y = p.output(16), z = p.output(16);
  p.call({t}, {y}, {p.kernel({x}, {t})});
  p.kernel({t}, {z});
  EXPECT_EQ(p.refused(), "prologue");
}

TEST(VerifyProgram, ACallThatWritesOverWhatItsPrologueReads) {
  LirProgram p;
  const Value x = p.input(16), s = p.buffer(16, 0), t = p.buffer(16, -1, lir::Lifetime::piecewise), c = p.buffer(16, 0),
              y = p.output(16);
  p.kernel({x}, {s});
  p.call({t}, {c}, {p.kernel({s}, {t})});
  p.kernel({c}, {y});
  EXPECT_EQ(p.refused(), "");
  EXPECT_EQ(p.refused(small), "overlap");
}

TEST(VerifyProgram, AKernelThatLoadsWhatItWrites) {
  const auto add_one = [](const KernelBody& k) {
    k.store(0, k.index[0], k.add(k.load(0, k.index[0]), k.number(DType::f32, 1)));
  };
  LirProgram p;
  const Value y = p.output(1);
  p.kernel({}, {y}, add_one);
  EXPECT_EQ(p.refused(), "written");
  LirProgram q;
  const Value z = q.output(1);
  q.kernel({}, {z});
  q.kernel({}, {z}, add_one);
  EXPECT_EQ(q.refused(), "");
}

TEST(VerifyProgram, WrittenInOneBranchOnly) {
  for (const bool both : {true, false}) {
    LirProgram p;
    const Value f = p.flag(0), y = p.output(16);
    p.kernel({}, {f}, [](const KernelBody& k) { k.store(0, k.index[0], k.number(DType::boolean, 1)); });
    p.branch(f, [&] { p.kernel({}, {y}); }, [&] { both ? (void)p.kernel({}, {y}) : void(); });
    EXPECT_EQ(p.refused(), both ? "" : "written");
  }
}

TEST(VerifyProgram, WrittenInALoopThatMayNotRun) {
  for (const bool before : {true, false}) {
    LirProgram p;
    const Value y = p.output(16);
    if (before) p.kernel({}, {y});
    p.loop(
        [&] {
          const Value f = p.flag();
          p.kernel({}, {f}, [](const KernelBody& k) { k.store(0, k.index[0], k.number(DType::boolean, 0)); });
          return f;
        },
        [&] { p.kernel({}, {y}); });
    EXPECT_EQ(p.refused(), before ? "" : "written");
  }
}

TEST(VerifyProgram, ALoopConditionThatNothingWrites) {
  LirProgram p;
  p.loop([&] { return p.flag(); }, [] {});
  EXPECT_EQ(p.refused(), "written");
}

TEST(VerifyProgram, LoopStateReadInTheFirstTrip) {
  LirProgram p;
  const Value state = p.buffer(16), y = p.output(16);
  p.kernel({}, {y});
  p.loop(
      [&] {
        const Value f = p.flag();
        p.kernel({state}, {f}, [](const KernelBody& k) { k.store(1, k.index[0], k.number(DType::boolean, 0)); });
        return f;
      },
      [&] { p.kernel({}, {state}); });
  EXPECT_EQ(p.refused(), "written");
}

TEST(VerifyProgram, WritesToAnInput) {
  LirProgram p;
  const Value x = p.input(16);
  p.kernel({}, {x});
  EXPECT_EQ(p.refused(), "writable");
}

TEST(VerifyProgram, StoresToWhatItOnlyReads) {
  LirProgram p;
  const Value a = p.buffer(1), y = p.output(1);
  p.kernel({}, {a});
  p.kernel({a}, {y}, [](const KernelBody& k) {
    k.store(0, k.index[0], k.number(DType::f32, 1));
    k.store(1, k.index[0], k.number(DType::f32, 1));
  });
  EXPECT_EQ(p.refused(), "body");
}

TEST(VerifyProgram, ABodyThatReachesOutside) {
  LirProgram p;
  const Value a = p.buffer(1), y = p.output(1);
  p.kernel({}, {a});
  p.kernel({}, {y}, [&](const KernelBody& k) { k.store(0, k.index[0], k.op("lir.load", {a, k.index[0]})); });
  EXPECT_EQ(p.refused(), "body");
}

TEST(VerifyProgram, OutsideTheArena) {
  for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{1024}, std::int64_t{1024 - 64 + 1}, INT64_MAX - 8}) {
    LirProgram p;
    p.kernel({}, {p.buffer(16, offset)});
    EXPECT_EQ(p.refused(small), "arena") << offset;
  }
}

TEST(VerifyProgram, NotAligned) {
  LirProgram p;
  p.kernel({}, {p.buffer(16, 32)});
  EXPECT_EQ(p.refused(), "");
  EXPECT_EQ(p.refused(small), "alignment");
}

TEST(VerifyProgram, TwoLiveBuffersInTheSameBytes) {
  for (const std::int64_t offset : {0, 64, 128}) {
    LirProgram p;
    const Value a = p.buffer(32, 0), c = p.buffer(16, offset), y = p.output(16);
    p.kernel({}, {a});
    p.kernel({}, {c});
    p.kernel({a, c}, {y});
    EXPECT_EQ(p.refused(small), offset < 128 ? "overlap" : "");
  }
}

TEST(VerifyProgram, AStepThatWritesOverWhatItReads) {
  LirProgram p;
  const Value a = p.buffer(16, 0), c = p.buffer(16, 0);
  p.kernel({}, {a});
  p.kernel({a}, {c});
  EXPECT_EQ(p.refused(small), "overlap");
}

TEST(VerifyProgram, TwoWritesOfOneStepInTheSameBytes) {
  LirProgram p;
  p.kernel({}, {p.buffer(16, 0), p.buffer(16, 0)});
  EXPECT_EQ(p.refused(small), "overlap");
}

TEST(VerifyProgram, BuffersOneAfterTheOtherShareBytes) {
  LirProgram p;
  const Value a = p.buffer(16, 0), c = p.buffer(16, 64), d = p.buffer(16, 0);
  p.kernel({}, {a});
  p.kernel({a}, {c});
  p.kernel({c}, {d});
  EXPECT_EQ(p.refused(small), "");
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
          p.kernel({}, {f}, [](const KernelBody& k) { k.store(0, k.index[0], k.number(DType::boolean, 0)); });
          return f;
        },
        [&] {
          p.kernel({x}, {y});
          p.kernel({}, {p.buffer(16, offset)});
        });
    EXPECT_EQ(p.refused(small), offset == 0 ? "overlap" : "");
  }
}

TEST(VerifyProgram, ABranchThatOverwritesWhatIsReadAfterIt) {
  LirProgram p;
  const Value x = p.buffer(16, 0), f = p.flag(512), y = p.output(16);
  p.kernel({}, {x});
  p.kernel({}, {f}, [](const KernelBody& k) { k.store(0, k.index[0], k.number(DType::boolean, 1)); });
  p.branch(f, [] {}, [&] { p.kernel({}, {p.buffer(16, 0)}); });
  p.kernel({x}, {y});
  EXPECT_EQ(p.refused(small), "overlap");
}

TEST(VerifyProgram, AStepThatNoLoweringClaims) {
  LirProgram p;
  p.kernel({}, {p.buffer(1)});
  EXPECT_EQ(p.refused(), "");
  p.sources.clear();
  EXPECT_EQ(p.refused(), "claimed");
}

}  // namespace
}  // namespace rlx
