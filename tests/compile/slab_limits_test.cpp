// Programs that bind more than a target lets them.
#include "compile/slab_limits.hpp"

#include "compile/plan_memory.hpp"
#include "lir_program.hpp"

#include <rlx/compile/compile.hpp>

#include <gtest/gtest.h>

namespace rlx {
namespace {

using testing_kernels::LirProgram;

constexpr std::int64_t arena_bytes = 128;

// t and u are in the arena; x, y and z are slabs of their own.
struct SlabProgram {
  LirProgram p;
  explicit SlabProgram(const Target& target) {
    p.target = target;
    p.target.device = "made_up";
    p.report.rows.emplace_back().value = "%7";
    p.report.rows.back().op = "add";
    const Value x = p.input(16), t = p.buffer(16, 0), u = p.buffer(16, 64), y = p.output(16), z = p.output(16);
    p.kernel({x}, {t});
    p.kernel({t}, {u});
    p.kernel({u}, {y});
    p.kernel({x, t}, {z});
    for (NodeId n = 0; static_cast<std::size_t>(n) < p.g.node_count(); ++n) p.g.node(n).origin = 0;
  }
  void check() const { compile::check_slab_limits(p.g, p.target, arena_bytes, p.report); }
  std::string refusal() const {
    try {
      check();
    } catch (const CompileError& e) {
      EXPECT_EQ(e.report().unresolved(), 1u);
      EXPECT_EQ(e.report().rows.front().value, "%7");
      return e.report().rows.front().refusals.at(0).why;
    }
    return "";
  }
  std::uint64_t wanted() const {
    try {
      check();
    } catch (const MemoryError& e) { return e.wanted_bytes(); }
    return 0;
  }
};

TEST(SlabLimits, HowManySlabsADispatchMayBind) {
  EXPECT_EQ(SlabProgram({.max_slabs = 3}).refusal(), "");
  EXPECT_EQ(SlabProgram({.max_slabs = 2}).refusal(), "k3 binds 3 slabs, and made_up takes 2 in one dispatch");
}

TEST(SlabLimits, ASlabThatIsReadAndWritten) {
  EXPECT_EQ(SlabProgram({.slab_reads_and_writes = true}).refusal(), "");
  EXPECT_EQ(SlabProgram({.slab_reads_and_writes = false}).refusal(),
            "k1 reads and writes the arena, and made_up takes no slab for both in one dispatch");
}

TEST(SlabLimits, BytesOfOneSlab) {
  EXPECT_EQ(SlabProgram({.max_slab_bytes = 128}).wanted(), 0u);
  EXPECT_EQ(SlabProgram({.max_slab_bytes = 127}).wanted(), 128u);  // the arena
  LirProgram p;
  p.target.max_slab_bytes = 128;
  p.kernel({}, {p.output(33)});
  EXPECT_THROW(compile::check_slab_limits(p.g, p.target, 0, p.report), MemoryError);
}

TEST(SlabLimits, BytesOfAllSlabs) {
  EXPECT_EQ(SlabProgram({.max_bytes = 128 + 3 * 64}).wanted(), 0u);
  EXPECT_EQ(SlabProgram({.max_bytes = 128 + 3 * 64 - 1}).wanted(), 320u);
}

TEST(SlabLimits, CompiledProgramsAreHeldToThem) {
  Graph g;
  Builder b(g, testing_kernels::registry());
  const Value x = b.input(f32({4}), "x"), y = b.input(f32({4}), "y");
  b.output(b.emit1("add", {x, y}), "z");
  EXPECT_NO_THROW(compile_program(g, testing_kernels::registry(), Target{.max_slabs = 3}, {}));
  try {
    compile_program(g, testing_kernels::registry(), Target{.device = "made_up", .max_slabs = 2}, {});
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_NE(std::string(e.what()).find("binds 3 slabs, and made_up takes 2 in one dispatch"), std::string::npos)
        << e.what();
  }
}

// 2^58 - 1 elements fit 64 bits and so do their bytes, but not their bits.
TEST(ByteSizes, ValuesBeyond64BitsAreRefused) {
  const auto compile = [](const Type& t) {
    Graph g("g");
    Builder b(g, testing_kernels::registry());
    b.output(b.emit1("neg", {b.input(t, "x")}), "y");
    return compile_program(g, testing_kernels::registry(), {.device = "made_up"}, {});
  };
  EXPECT_THROW(compile(f64({(std::int64_t{1} << 58) - 1})), MemoryError);
  EXPECT_THROW(compile(TensorType{DType::i8, {std::int64_t{1} << 60}}), MemoryError);
  const rlx::Program p = compile(f64({std::int64_t{1} << 56}));
  ASSERT_EQ(p.report.steps.size(), 1u);
  EXPECT_EQ(p.report.steps[0].bytes, 0x1p60);  // 2^59 read, as many written.
}

// Each of them fits, all of them do not: 17 times 2^59 bytes.
TEST(ByteSizes, OffsetsBeyond64BitsAreRefused) {
  const auto plan = [](int buffers) {
    LirProgram p;
    Value last = p.input(16);
    for (int i = 0; i < buffers; ++i) {
      const Value t = p.buffer(std::int64_t{1} << 57);
      p.kernel({last}, {t});
      last = t;
    }
    return compile::plan_memory(p.g, p.target);
  };
  EXPECT_EQ(plan(15), std::int64_t{1} << 60);  // Two at a time.
  EXPECT_THROW(plan(17), MemoryError);
}

}  // namespace
}  // namespace rlx
