// Which programs of a size are kept, and whose memory.
#include "runtime/kept_programs.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rlx::runtime {
namespace {

struct Program final : CompiledGraph {
  HostValues run(Arguments, HostValues) override { return {}; }
  const DispatchReport& report() const override { return report_; }
  const Graph& lir() const override { return graph_; }
  std::int64_t bytes_per_call() const override { return 0; }
  ExecutableStatistics statistics() const override { return {1, peak, 10, 1}; }
  void add_codes(std::set<const void*>& codes) const override { codes.insert(this); }
  void trim() override { ++trimmed; }

  explicit Program(std::int64_t p) : peak(p) {}
  std::int64_t peak;
  int trimmed = 0;
  DispatchReport report_;
  Graph graph_;
};

TEST(KeptPrograms, TheOneNotUsedForLongestGoes) {
  KeptPrograms kept(3);
  int made = 0;
  const auto get = [&](std::int64_t size) {
    return kept.get({{"n", size}}, [&] {
      ++made;
      return std::make_shared<Program>(size);
    });
  };
  const auto one = get(1);
  get(2), get(3), get(1);
  EXPECT_EQ(made, 3);
  const std::weak_ptr<CompiledGraph> two = get(2);
  get(1), get(4);  // 3 goes.
  EXPECT_EQ(kept.size(), 3u);
  EXPECT_EQ(get(1), one);
  EXPECT_EQ(made, 4);
  get(3);  // 2 goes, and is no more, since no call holds it.
  EXPECT_EQ(made, 5);
  EXPECT_TRUE(two.expired());
  for (std::int64_t size = 10; size < 30; ++size) get(size);
  EXPECT_EQ(kept.size(), 3u);
  EXPECT_EQ(one->statistics().peak_bytes, 1) << "what a call holds stays whole";
  const ExecutableStatistics s = kept.statistics();
  EXPECT_EQ(s.calls, made);
  EXPECT_EQ(s.in_place_bytes, 10 * made);
  EXPECT_EQ(s.copied_bytes, made);
  EXPECT_EQ(s.peak_bytes, 29);
  EXPECT_EQ(s.codes, 3);
}

TEST(KeptPrograms, OneHoldsItsMemory) {
  KeptPrograms kept(2);
  const auto get = [&](std::int64_t size) {
    return std::static_pointer_cast<Program>(kept.get({{"n", size}}, [&] { return std::make_shared<Program>(size); }));
  };
  const auto a = get(1);
  get(1);
  EXPECT_EQ(a->trimmed, 0);
  const auto b = get(2);
  EXPECT_EQ(a->trimmed, 1);
  EXPECT_EQ(b->trimmed, 0);
  EXPECT_THROW(kept.get({{"n", 3}}, []() -> std::shared_ptr<CompiledGraph> { throw CompileError({}); }), CompileError);
  EXPECT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept.latest(), b);
}

}  // namespace
}  // namespace rlx::runtime
