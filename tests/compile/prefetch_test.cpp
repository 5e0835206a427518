// Which accesses ask for memory ahead of time.
#include "compile/emit_llvm/prefetch.hpp"

#include "kernel_program.hpp"

namespace rlx {
namespace {

using namespace testing_kernels;

constexpr std::int64_t large = 2 << 20;  // Elements of f32 that come from memory.

std::vector<std::int64_t> distances(const Program& p) {
  const emit_llvm::Machine machine{
      .triple = "x86_64-unknown-linux-gnu", .cpu = "x86-64-v4", .features = "", .isa = emit_llvm::Isa::avx512};
  const NodeId kernel = lir::kernels(p.graph())[0];
  std::vector<std::int64_t> out;
  for (const auto& [access, ahead] :
       emit_llvm::prefetches(p.graph(), emit_llvm::plan_kernel(p.graph(), kernel, machine)))
    out.push_back(ahead);
  std::sort(out.begin(), out.end());
  return out;
}

Program successor(std::int64_t n) {
  Program p;
  p.kernel({n}, {p.buffer(DType::f32, n), p.buffer(DType::f32, n)}, 1,
           [](const Body& k) { k.store(1, k.index[0], k.add(k.load(0, k.index[0]), k.number(DType::f32, 1))); });
  return p;
}

TEST(Prefetch, LargeBuffersOfAContiguousLoop) {
  EXPECT_EQ(distances(successor(large)), (std::vector<std::int64_t>{512, 512}));
  EXPECT_TRUE(distances(successor(1000)).empty());
}

TEST(Prefetch, NothingChanges) {
  const std::int64_t n = large + 5;
  const HostTensor x = random_tensor(DType::f32, n, 1);
  const HostTensor y = run_everywhere(successor(n), {x, HostTensor(DType::f32, {n})})[1];
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) wrong += y.as<float>()[i] != x.as<float>()[i] + 1;
  EXPECT_EQ(wrong, 0);
}

// Each of 2048 rows: its sum, then its elements over that. The second loop asks for the next row of both buffers.
TEST(Prefetch, TheNextRowInTheLastPass) {
  constexpr std::int64_t row = 1024;
  Program p;
  p.kernel({large / row}, {p.buffer(DType::f32, large), p.buffer(DType::f32, large)}, 1, [](const Body& k) {
    const auto at = [&](Value i) { return k.add(k.times(k.index[0], row), i); };
    const Value sum = k.sum(k.i64(0), k.i64(row), k.number(DType::f32, 0), [&](Value i) { return k.load(0, at(i)); });
    k.loop(
        k.i64(0), k.i64(row), {},
        [&](Value i, ValuesIn) {
          k.store(1, at(i), k.op("div", {k.load(0, at(i)), sum}));
          return Values{};
        },
        lir::ForAttrs{.independent = true});
  });
  EXPECT_EQ(distances(p), (std::vector<std::int64_t>{row, row}));
}

}  // namespace
}  // namespace rlx
