// LIR programs that break one rule each: of what is written and read, and where.
#include "lir_program.hpp"

#include <gtest/gtest.h>

namespace rlx::testing_kernels {
namespace {

TEST(VerifyProgram, AWholeProgramPasses) {
  LirProgram p;
  const Value x = p.input(16), t = p.buffer(16, 0), y = p.output(16);
  p.kernel({x}, {t});
  p.kernel({t}, {y});
  p.check();
  p.check(small_arena);
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

TEST(VerifyProgram, AKernelThatLoadsWhatItWrites) {
  const auto add_one = [](const Body& k) {
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
    p.kernel({}, {f}, [](const Body& k) { k.store(0, k.index[0], k.number(DType::boolean, 1)); });
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
          p.kernel({}, {f}, [](const Body& k) { k.store(0, k.index[0], k.number(DType::boolean, 0)); });
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
        p.kernel({state}, {f}, [](const Body& k) { k.store(1, k.index[0], k.number(DType::boolean, 0)); });
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
  p.kernel({a}, {y}, [](const Body& k) {
    k.store(0, k.index[0], k.number(DType::f32, 1));
    k.store(1, k.index[0], k.number(DType::f32, 1));
  });
  EXPECT_EQ(p.refused(), "body");
}

TEST(VerifyProgram, ABodyThatReachesOutside) {
  LirProgram p;
  const Value a = p.buffer(1), y = p.output(1);
  p.kernel({}, {a});
  p.kernel({}, {y}, [&](const Body& k) { k.store(0, k.index[0], k.op("lir.load", {a, k.index[0]})); });
  EXPECT_EQ(p.refused(), "body");
}

TEST(VerifyProgram, AStepThatNoLoweringClaims) {
  LirProgram p;
  p.kernel({}, {p.buffer(1)});
  EXPECT_EQ(p.refused(), "");
  p.sources.clear();
  EXPECT_EQ(p.refused(), "claimed");
}

}  // namespace
}  // namespace rlx::testing_kernels
