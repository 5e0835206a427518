// LIR programs that break one rule each, and random programs that the memory plan must leave whole.
#include "compile/lir/verify_program.hpp"

#include "compile/plan_memory.hpp"
#include "kernel_program.hpp"

#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rlx::testing_kernels {
namespace {

using compile::MemoryPlan;

// A program under construction with a report that claims every step.
struct LirProgram {
  Graph g{"lir"};
  Builder b{g, registry()};
  DispatchReport report{};
  Target target{.alignment = 64};
  int kernels = 0;

  static TensorType type(std::int64_t n, DType t = DType::f32) { return {t, {Dim(n)}, Space::device}; }
  Value input(std::int64_t n) { return b.input(type(n), "x" + std::to_string(g.inputs().size())); }
  Value buffer(std::int64_t n, std::int64_t offset = -1, lir::Lifetime lifetime = lir::Lifetime::transient) {
    return b.emit1("lir.buffer", {}, lir::BufferAttrs{.type = type(n), .lifetime = lifetime, .offset = offset});
  }
  Value output(std::int64_t n) {
    const Value v = buffer(n, -1, lir::Lifetime::output);
    b.output(v, "y" + std::to_string(g.outputs().size()));
    return v;
  }
  Value flag(std::int64_t offset = -1) {
    return b.emit1("lir.buffer", {},
                   lir::BufferAttrs{.type = TensorType{DType::boolean, {}, Space::device}, .offset = offset});
  }
  // Stores a number to element 0 of each written buffer, whatever it reads; or what `body` says.
  std::string kernel(const Values& reads, const Values& writes, const std::function<void(const Body&)>& body = {}) {
    Values all = reads;
    all.insert(all.end(), writes.begin(), writes.end());
    lir::KernelAttrs a;
    a.name = "k" + std::to_string(kernels++);
    a.extents = {1};
    a.writes = static_cast<int>(writes.size());
    const RegionBody region = [&](ValuesIn in) -> Values {
      const Body k{b, {in[0]}, {in.begin() + 1, in.end()}};
      if (body) body(k);
      else
        for (std::size_t i = reads.size(); i < all.size(); ++i)
          k.store(i, k.index[0], k.number(all[i].tensor().dtype, 1));
      return {};
    };
    b.emit("lir.kernel", all, a, std::span(&region, 1));
    report.steps.push_back({a.name, "kernel", "generated", 1});
    return a.name;
  }
  void copy(Value from, Value to) {
    b.emit("lir.copy", {from, to});
    report.steps.push_back({"copy", "copy", "generated", 0});
  }
  // A record's launch; the kernels that it runs lose their own steps.
  void call(const Values& reads, const Values& writes, const std::string& prologues, const std::string& epilogue = "") {
    Values all = reads;
    all.insert(all.end(), writes.begin(), writes.end());
    const lir::CallAttrs a{.record = "r",
                           .op = "exp",
                           .operands = static_cast<int>(reads.size()),
                           .prologues = prologues,
                           .epilogue = epilogue};
    b.emit("lir.call", all, a);
    std::erase_if(report.steps, [&](const StepRow& s) { return s.name == prologues; });
    report.steps.push_back({lir::step_name(a), "call", "handwritten", 0});
  }
  void loop(const std::function<Value()>& condition, const std::function<void()>& body) {
    report.steps.push_back({"while", "while", "generated", 0});
    const std::vector<RegionBody> regions{[&](ValuesIn) { return Values{condition()}; },
                                          [&](ValuesIn) { return body(), Values{}; }};
    b.emit("lir.while", {}, lir::LoopAttrs{}, regions);
  }
  void branch(Value predicate, const std::function<void()>& yes, const std::function<void()>& no) {
    report.steps.push_back({"if", "if", "generated", 0});
    const std::vector<RegionBody> regions{[&](ValuesIn) { return yes(), Values{}; },
                                          [&](ValuesIn) { return no(), Values{}; }};
    b.emit("lir.if", ValuesIn(&predicate, 1), {}, regions);
  }

  void check(const std::optional<MemoryPlan>& plan = {}) const {
    verify(g, Level::lir);
    compile::verify_program(g, target, report, plan);
  }
  // The rule that refuses it, "" where none does.
  std::string refused(const std::optional<MemoryPlan>& plan = {}) const {
    verify(g, Level::lir);
    try {
      compile::verify_program(g, target, report, plan);
    } catch (const VerifyError& e) { return e.constraint(); }
    return "";
  }
};

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
  p.call({t}, {y}, p.kernel({x}, {t}));
  p.check();
  p.check(small);
}

TEST(VerifyProgram, APrologueThatItsCallDoesNotName) {
  LirProgram p;
  const Value x = p.input(16), t = p.buffer(16, -1, lir::Lifetime::piecewise), y = p.output(16);
  p.kernel({x}, {t});
  p.call({t}, {y}, "");
  EXPECT_EQ(p.refused(), "prologue");
}

TEST(VerifyProgram, ACallThatNamesAPrologueThatIsNotThere) {
  LirProgram p;
  const Value x = p.input(16), y = p.output(16);
  p.call({x}, {y}, "k7");
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
  p.call({t}, {y}, p.kernel({x}, {t}));
  p.kernel({t}, {z});
  EXPECT_EQ(p.refused(), "prologue");
}

TEST(VerifyProgram, ACallThatWritesOverWhatItsPrologueReads) {
  LirProgram p;
  const Value x = p.input(16), s = p.buffer(16, 0), t = p.buffer(16, -1, lir::Lifetime::piecewise), c = p.buffer(16, 0),
              y = p.output(16);
  p.kernel({x}, {s});
  p.call({t}, {c}, p.kernel({s}, {t}));
  p.kernel({c}, {y});
  EXPECT_EQ(p.refused(), "");
  EXPECT_EQ(p.refused(small), "overlap");
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
          p.kernel({}, {f}, [](const Body& k) { k.store(0, k.index[0], k.number(DType::boolean, 0)); });
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
  p.kernel({}, {f}, [](const Body& k) { k.store(0, k.index[0], k.number(DType::boolean, 1)); });
  p.branch(f, [] {}, [&] { p.kernel({}, {p.buffer(16, 0)}); });
  p.kernel({x}, {y});
  EXPECT_EQ(p.refused(small), "overlap");
}

TEST(VerifyProgram, AStepThatNoLoweringClaims) {
  LirProgram p;
  p.kernel({}, {p.buffer(1)});
  p.report.steps.clear();
  EXPECT_EQ(p.refused(), "claimed");
}

TEST(VerifyProgram, AClaimWithoutStep) {
  LirProgram p;
  p.report.steps.push_back({"k7", "kernel", "generated", 1});
  EXPECT_EQ(p.refused(), "claimed");
}

TEST(VerifyProgram, AStepOfAnotherRow) {
  LirProgram p;
  p.report.rows.resize(2);
  p.b.set_origin(1);
  const std::string name = p.kernel({}, {p.buffer(1)});
  p.report.rows[0].steps = {name};
  EXPECT_EQ(p.refused(), "claimed");
  p.report.rows[1].steps = {name};
  EXPECT_EQ(p.refused(), "");
}

// Random structured programs that write before they read.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {
    Values written{p.input(16)};
    region(written, 0);
    const Value y = p.output(8);
    p.kernel(some(written), {y});
  }
  LirProgram p;

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Values some(const Values& from) {
    Values out;
    for (int i = pick(4); i-- > 0;) out.push_back(from[static_cast<std::size_t>(pick(static_cast<int>(from.size())))]);
    return out;
  }
  Value fresh() { return p.buffer(pick(20) == 0 ? 0 : 1 + pick(100)); }
  Value predicate(const Values& written) {
    const Value f = p.flag();
    const Values reads = some(written);
    p.kernel(reads, {f});
    return f;
  }
  // Adds to `written` what the region's steps leave.
  void region(Values& written, int depth) {
    for (int i = 2 + pick(depth ? 4 : 8); i-- > 0;) switch (pick(depth < 2 ? 8 : 5)) {
        case 5: {
          Values merged{fresh(), fresh()};
          const Value f = predicate(written);
          const auto side = [&] {
            Values inner = written;
            region(inner, depth + 1);
            for (const Value& m : merged) p.kernel(some(inner), {m});
          };
          p.branch(f, side, side);
          written.insert(written.end(), merged.begin(), merged.end());
          break;
        }
        case 6: {
          const Value state = fresh();
          p.kernel(some(written), {state});
          written.push_back(state);
          p.loop(
              [&] {
                Values inner = written;
                region(inner, depth + 1);
                return predicate(inner);
              },
              [&] {
                Values inner = written;
                region(inner, depth + 1);
                p.kernel(some(inner), {state});
              });
          break;
        }
        case 7: {
          const Value from = written[static_cast<std::size_t>(pick(static_cast<int>(written.size())))];
          const Value to = p.buffer(from.tensor().numel().constant());
          if (from.dtype() != to.dtype()) break;
          p.copy(from, to);
          written.push_back(to);
          break;
        }
        default: {
          Values made{fresh()};
          if (pick(3) == 0) made.push_back(fresh());
          p.kernel(some(written), made);
          written.insert(written.end(), made.begin(), made.end());
        }
      }
  }
  std::mt19937 random_;
};

TEST(VerifyProgram, ThePlanOfRandomProgramsKeepsEveryRule) {
  std::int64_t planned = 0, buffers = 0, mutants = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    RandomProgram r(seed);
    LirProgram& p = r.p;
    ASSERT_NO_THROW(p.check()) << seed << "\n" << print(p.g);
    const MemoryPlan plan{compile::plan_memory(p.g, p.target)};
    ASSERT_NO_THROW(p.check(plan)) << seed << "\n" << print(p.g);
    planned += plan.arena_bytes;
    int tried = 0;
    for (std::size_t n = 0; n < p.g.node_count(); ++n) {
      const Node& node = p.g.node(static_cast<NodeId>(n));
      const auto* a = node.attrs.get_if<lir::BufferAttrs>();
      if (a && a->lifetime == lir::Lifetime::transient)
        buffers += byte_size(DType::f32, p.g.tensor_type(node.results[0]).numel().constant());
      // A plan that puts what a kernel writes where it reads is refused.
      if (node.op->name() != "lir.kernel" || node.operands.size() < 2) continue;
      const ValueId from = node.operands[0], to = node.operands.back();
      const NodeId f = p.g.value(from).node, t = p.g.value(to).node;
      const auto transient = [&](NodeId id, ValueId v) {
        return id >= 0 && p.g.node(id).attrs.as<lir::BufferAttrs>().lifetime == lir::Lifetime::transient &&
               p.g.tensor_type(v).numel().constant() > 0;
      };
      if (from == to || !transient(f, from) || !transient(t, to) || ++tried > 10) continue;
      const AnyAttrs old = p.g.node(t).attrs;
      auto moved = old.as<lir::BufferAttrs>();
      moved.offset = p.g.node(f).attrs.as<lir::BufferAttrs>().offset;
      p.g.node(t).attrs = moved;
      ASSERT_NE(p.refused(plan), "") << seed << " node " << n;
      p.g.node(t).attrs = old;
      ++mutants;
    }
  }
  EXPECT_LT(planned, buffers / 2) << "the plan shares no memory, so this test shows nothing";
  EXPECT_GT(mutants, 300);
}

}  // namespace
}  // namespace rlx::testing_kernels
