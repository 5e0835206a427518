// Which accesses ask for memory ahead of time.
#include "compile/emit_llvm/prefetch.hpp"

#include "kernel_program.hpp"

namespace rlx::testing_kernels {
namespace {

constexpr std::int64_t large = 2 << 20;  // Elements of f32 that come from memory.

const emit_llvm::Machine machine{
    .triple = "x86_64-unknown-linux-gnu", .cpu = "x86-64-v4", .features = "", .isa = emit_llvm::Isa::avx512};

// A processor that gathers slowly, with a memory that is far.
const emit_llvm::Machine slow_gathers = [] {
  emit_llvm::Machine m = machine;
  m.slow_gathers = true;
  m.bytes_ahead = 6144;
  return m;
}();

std::vector<std::int64_t> distances(const Program& p, const emit_llvm::Machine& machine = testing_kernels::machine) {
  const NodeId kernel = lir::kernels(p.graph())[0];
  std::vector<std::int64_t> out;
  for (const auto& [access, prefetch] :
       emit_llvm::prefetches(p.graph(), emit_llvm::plan_kernel(p.graph(), kernel, machine), machine))
    out.push_back(prefetch.ahead);
  std::sort(out.begin(), out.end());
  return out;
}

std::int64_t count_of(const std::string& text, std::string_view word) {
  std::int64_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
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

constexpr std::int64_t row = 1024;

// Each of 2048 rows: its sum, then `f` of its elements and that.
Program by_sums(const std::function<Value(const Body&, Value x, Value sum)>& f) {
  Program p;
  p.kernel({large / row}, {p.buffer(DType::f32, large), p.buffer(DType::f32, large)}, 1, [&](const Body& k) {
    const auto at = [&](Value i) { return k.add(k.times(k.index[0], row), i); };
    const Value sum = k.sum(k.i64(0), k.i64(row), k.number(DType::f32, 0), [&](Value i) { return k.load(0, at(i)); });
    k.loop(
        k.i64(0), k.i64(row), {},
        [&](Value i, ValuesIn) {
          k.store(1, at(i), f(k, k.load(0, at(i)), sum));
          return Values{};
        },
        lir::ForAttrs{.independent = true});
  });
  return p;
}

TEST(Prefetch, TheNextRowByHalves) {
  const Program p = by_sums([](const Body& k, Value x, Value sum) { return k.sub(x, sum); });
  EXPECT_EQ(distances(p), (std::vector<std::int64_t>{row, row, row + row / 2}));
  // Half a line a vector is one request every other vector: of four sums two, of a trip of two one, beside whole lines
  // of both to write.
  EXPECT_EQ(count_of(emit_llvm::emit_text(p.graph(), machine, true), "call void @llvm.prefetch"), 2 + 1 + 2);
}

TEST(Prefetch, TheNextRowInTheDearPass) {
  const Program p = by_sums([](const Body& k, Value x, Value sum) { return k.op("exp", {k.sub(x, sum)}); });
  EXPECT_EQ(distances(p), (std::vector<std::int64_t>{row, row}));
}

// A row in chunks is one run: it asks for what lies ahead once, by the general rule and not as a segment too.
TEST(Prefetch, Chunks) {
  Program p;
  constexpr std::int64_t chunk = 16384;
  p.kernel({large / chunk}, {p.buffer(DType::f32, large), p.buffer(DType::f32, large / chunk)}, 1, [](const Body& k) {
    const Value low = k.times(k.index[0], chunk), high = k.op("min", {k.plus(low, chunk), k.i64(large)});
    k.store(1, k.index[0], k.sum(low, high, k.number(DType::f32, 0), [&](Value i) { return k.load(0, i); }));
  });
  EXPECT_EQ(distances(p), (std::vector<std::int64_t>{512}));
  const std::string text = emit_llvm::emit_text(p.graph(), machine, true);
  // Four sums side by side, one request each, and the vectors left over.
  EXPECT_EQ(count_of(text, "call void @llvm.prefetch"), 4);
}

// Segments ask for what lies ahead of each; so do their sums, to be written.
TEST(Prefetch, SumsOfSegments) {
  Program p;
  const auto bound = [](const Body& k, Value i) { return k.convert(k.load(0, i), DType::i64); };
  p.kernel({large}, {p.buffer(DType::i32, large + 1), p.buffer(DType::f32, large), p.buffer(DType::f32, large)}, 1,
           [&](const Body& k) {
             const Value i = k.index[0], zero = k.number(DType::f32, 0);
             k.store(2, i, k.sum(bound(k, i), bound(k, k.plus(i, 1)), zero, [&](Value j) { return k.load(1, j); }));
           });
  EXPECT_EQ(distances(p), (std::vector<std::int64_t>{512}));
  EXPECT_EQ(count_of(emit_llvm::emit_text(p.graph(), machine, true), "i32 1, i32 3, i32 1)"), 1);
}

TEST(Prefetch, IsAsFarAsTheMachineSays) {
  EXPECT_EQ(distances(successor(large), slow_gathers), (std::vector<std::int64_t>{1536, 1536}));
  EXPECT_NE(machine.description(), slow_gathers.description()) << "other code under another key";
}

// Sums over segments of what indices choose: lanes gather, or entries are loaded one by one, each segment asking for
// both of its arrays once, and results not at all.
TEST(Prefetch, SegmentsByEntries) {
  Program p;
  const auto bound = [](const Body& k, Value i) { return k.convert(k.load(0, i), DType::i64); };
  p.kernel({large},
           {p.buffer(DType::i32, large + 1), p.buffer(DType::i32, large), p.buffer(DType::f32, large),
            p.buffer(DType::f32, large), p.buffer(DType::f32, large)},
           1, [&](const Body& k) {
             const Value i = k.index[0], zero = k.number(DType::f32, 0);
             k.store(4, i, k.sum(bound(k, i), bound(k, k.plus(i, 1)), zero, [&](Value j) {
               return k.op("mul", {k.load(2, j), k.load(3, k.convert(k.load(1, j), DType::i64))});
             }));
           });
  const std::string lanes = emit_llvm::emit_text(p.graph(), machine, true),
                    entries = emit_llvm::emit_text(p.graph(), slow_gathers, true);
  EXPECT_GT(count_of(lanes, "@llvm.masked.gather"), 0);
  EXPECT_EQ(count_of(entries, "@llvm.masked.gather"), 0);
  EXPECT_EQ(count_of(entries, "call void @llvm.prefetch"), 2);
  EXPECT_EQ(distances(p), (std::vector<std::int64_t>{512}));
  EXPECT_TRUE(distances(p, slow_gathers).empty());
}

}  // namespace
}  // namespace rlx::testing_kernels
