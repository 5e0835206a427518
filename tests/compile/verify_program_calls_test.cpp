// LIR programs that break one rule each: of calls with the kernels that make their operands, and of started steps.
#include "lir_program.hpp"

#include <rlx/ir/text.hpp>

#include <gtest/gtest.h>

namespace rlx::testing_kernels {
namespace {

TEST(VerifyProgram, ACallRunsTheKernelThatMakesItsOperand) {
  LirProgram p;
  const Value x = p.input(16), t = p.buffer(16, -1, lir::Lifetime::piecewise), y = p.output(16);
  p.call({t}, {y}, {p.kernel({x}, {t})});
  p.check();
  p.check(small_arena);
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
  EXPECT_EQ(p.refused(small_arena), "overlap");
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
  a.p.check(small_arena);
  const std::string text = print(a.p.g);
  EXPECT_NE(text.find("lir.start()"), std::string::npos) << text;
  EXPECT_EQ(print(parse(text, registry())), text);
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
    c.p.kernel({}, {f}, [](const Body& k) { k.store(0, k.index[0], k.number(DType::boolean, 1)); });
    c.p.kernel({}, {c.s});
    c.with([&] { c.p.branch(f, [&] { c.p.kernel({race ? c.t : c.x}, {c.s}); }, [] {}); });
    EXPECT_EQ(c.p.refused(small_arena), race ? "race" : "");
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
  EXPECT_EQ(a.p.refused(small_arena), "overlap");
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
  a.p.kernel({}, {f}, [](const Body& k) { k.store(0, k.index[0], k.number(DType::boolean, 1)); });
  const Value token = a.p.start(1, [&] { a.p.kernel({a.x}, {a.y}); });
  a.p.branch(f, [&] { a.p.done(token); }, [] {});
  EXPECT_EQ(a.p.refused(), "done");
}

}  // namespace
}  // namespace rlx::testing_kernels
