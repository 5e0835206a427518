// LIR programs that break one rule each.
#include "lir_program.hpp"

#include <rlx/ir/text.hpp>

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

// x -> t on queue 1 while `beside` runs, then t -> y.
struct Started {
  LirProgram p;
  Value x, t, s, y;
  explicit Started(std::int64_t offset_of_s = 64) {
    p.target.queues = 2;
    x = p.input(16), t = p.buffer(16, 0), s = p.buffer(16, offset_of_s), y = p.output(16);
  }
  LirProgram& with(const std::function<void()>& beside) {
    const Value token = p.start(1, [&] { p.kernel({x}, {t}); });
    beside();
    p.done(token);
    p.kernel({t}, {y});
    return p;
  }
};

TEST(VerifyProgram, StartedStepsRunBesideOthers) {
  Started a;
  a.with([&] { a.p.kernel({a.x}, {a.s}); });
  a.p.check();
  a.p.check(small);
  const std::string text = print(a.p.g);
  EXPECT_NE(text.find("lir.start()"), std::string::npos) << text;
  EXPECT_EQ(print(parse(text, testing_kernels::registry())), text);
}

TEST(VerifyProgram, TheTargetHasTheQueuesOfAProgram) {
  Started a;
  a.p.target.queues = 1;
  EXPECT_EQ(a.with([] {}).refused(), "queue");
}

TEST(VerifyProgram, StepsThatRaceWithStartedOnes) {
  Started reads, writes, over, inside;
  EXPECT_EQ(reads.with([&] { reads.p.kernel({reads.t}, {reads.s}); }).refused(), "race");
  EXPECT_EQ(writes.with([&] { writes.p.kernel({}, {writes.t}); }).refused(), "race");
  // What the started steps read is written beside them.
  over.p.kernel({}, {over.s});
  const Value token = over.p.start(1, [&] { over.p.kernel({over.s}, {over.t}); });
  over.p.kernel({}, {over.s});
  over.p.done(token);
  over.p.kernel({over.t}, {over.y});
  EXPECT_EQ(over.p.refused(), "race");
  // In a branch, which reads what the started steps only read.
  for (const bool race : {false, true}) {
    Started c;
    const Value f = c.p.flag(128);
    c.p.kernel({}, {f}, [](const KernelBody& k) { k.store(0, k.index[0], k.number(DType::boolean, 1)); });
    c.p.kernel({}, {c.s});
    c.with([&] { c.p.branch(f, [&] { c.p.kernel({race ? c.t : c.x}, {c.s}); }, [] {}); });
    EXPECT_EQ(c.p.refused(small), race ? "race" : "");
  }
}

TEST(VerifyProgram, StartsOnOneQueueFollowEachOther) {
  for (const std::int64_t queue : {1, 2}) {
    Started a;
    a.p.target.queues = 3;
    const Value first = a.p.start(1, [&] { a.p.kernel({a.x}, {a.t}); }),
                second = a.p.start(queue, [&] { a.p.kernel({a.t}, {a.y}); });
    a.p.done(first);
    a.p.done(second);
    EXPECT_EQ(a.p.refused(), queue == 1 ? "" : "race");
  }
}

TEST(VerifyProgram, StartedStepsKeepTheirMemoryToTheirDone) {
  Started a(0);
  a.with([&] { a.p.kernel({a.x}, {a.s}); });
  EXPECT_EQ(a.p.refused(), "");
  EXPECT_EQ(a.p.refused(small), "overlap");
}

TEST(VerifyProgram, EveryStartHasOneDone) {
  Started none;
  none.p.start(1, [&] { none.p.kernel({none.x}, {none.y}); });
  EXPECT_EQ(none.p.refused(), "done");
  Started twice;
  const Value token = twice.p.start(1, [&] { twice.p.kernel({twice.x}, {twice.y}); });
  twice.p.done(token);
  EXPECT_EQ(twice.p.refused(), "");
  twice.p.done(token);
  EXPECT_EQ(twice.p.refused(), "done");
}

TEST(VerifyProgram, ADoneInAnotherRegion) {
  Started a;
  const Value f = a.p.flag(128);
  a.p.kernel({}, {f}, [](const KernelBody& k) { k.store(0, k.index[0], k.number(DType::boolean, 1)); });
  const Value token = a.p.start(1, [&] { a.p.kernel({a.x}, {a.y}); });
  a.p.branch(f, [&] { a.p.done(token); }, [] {});
  EXPECT_EQ(a.p.refused(), "done");
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

TEST(VerifyProgram, AConditionThatNothingAsksFor) {
  for (const bool steps : {false, true}) {
    LirProgram p;
    const Value y = p.output(16);
    p.kernel({}, {y});
    const std::vector<RegionBody> regions{[&](ValuesIn) {
                                            if (steps) p.kernel({}, {p.flag()});
                                            return Values{};
                                          },
                                          [&](ValuesIn) { return p.kernel({}, {y}), Values{}; }};
    p.b.emit("lir.while", {}, lir::LoopAttrs{.trips = 3}, regions);
    p.claim();
    EXPECT_EQ(p.refused(), steps ? "loop" : "");
  }
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
