// Random programs that the memory plan must leave whole, and that a worse plan must not pass for.
#include "compile/plan_memory.hpp"

#include "lir_program.hpp"

#include <rlx/ir/text.hpp>

#include <gtest/gtest.h>

#include <random>

namespace rlx {
namespace {

using compile::MemoryPlan;
using testing_kernels::LirProgram;

// Random structured programs that write before they read.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed, int queues = 1) : random_(seed) {
    p.target.queues = queues;
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
    for (int i = 2 + pick(depth ? 4 : 8); i-- > 0;) switch (pick(depth < 2 ? (p.target.queues > 1 ? 10 : 8) : 5)) {
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
        case 8:
        case 9: {
          const Value left = fresh();
          const Value token = p.start(1 + pick(static_cast<int>(p.target.queues) - 1), [&] {
            Values inner = written;
            region(inner, depth + 1);
            p.kernel(some(inner), {left});
          });
          region(written, depth + 1);
          p.done(token);
          written.push_back(left);
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

TEST(PlanMemory, ThePlanOfRandomProgramsKeepsEveryRule) {
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

TEST(PlanMemory, StartedStepsKeepTheirMemoryToTheirDone) {
  int starts = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomProgram r(seed, 3);
    const MemoryPlan plan{compile::plan_memory(r.p.g, r.p.target)};
    ASSERT_NO_THROW(r.p.check(plan)) << seed << "\n" << print(r.p.g);
    for (std::size_t n = 0; n < r.p.g.node_count(); ++n)
      starts += r.p.g.node(static_cast<NodeId>(n)).op->name() == "lir.start";
  }
  EXPECT_GT(starts, 30);
  // s is written while t is in use, or when it no longer is: only then may it have t's place.
  for (const bool beside : {true, false}) {
    LirProgram p;
    p.target.queues = 2;
    const Value x = p.input(16), t = p.buffer(16), s = p.buffer(16), y = p.output(16), z = p.output(16);
    const Value token = p.start(1, [&] {
      p.kernel({x}, {t});
      p.kernel({t}, {y});
    });
    if (!beside) p.done(token);
    p.kernel({x}, {s});
    p.kernel({s}, {z});
    if (beside) p.done(token);
    const MemoryPlan plan{compile::plan_memory(p.g, p.target)};
    EXPECT_NO_THROW(p.check(plan));
    EXPECT_EQ(plan.arena_bytes, beside ? 128 : 64);
  }
}

}  // namespace
}  // namespace rlx
