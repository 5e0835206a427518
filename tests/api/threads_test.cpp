// Programs and compiled functions that several threads use at once. The thread sanitizer's preset runs this area.
#include "catalog.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ir/op_def.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/rlx.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <deque>
#include <string>
#include <thread>
#include <vector>

namespace rlx {
namespace {

constexpr int threads = 2, rounds = 20;

/// f(thread) on each of them at the same time; what one throws fails the test.
template <class F>
void at_once(F f) {
  std::barrier start(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      start.arrive_and_wait();
      try {
        f(t);
      } catch (const std::exception& e) { ADD_FAILURE() << e.what(); }
    });
  for (std::thread& t : all) t.join();
}

/// y = sum over i of x[index[i]]^2: a gather, a fusion and a reduction, with an arena.
Graph sum_of_squares(const Registry& operators, std::int64_t n) {
  Graph g("sum_of_squares");
  Builder b(g, operators);
  const Value x = b.input(f64({n}), "x"), index = b.input(tensor(DType::i32, {n}), "index");
  const Value y = ops::take(x, index, 0);
  b.output(ops::reduce_sum(ops::mul(y, y), {0}), "y");
  return g;
}

class OneExecutable : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};
INSTANTIATE_TEST_SUITE_P(Devices, OneExecutable,
                         ::testing::Combine(::testing::Values("cpu", "reference"), ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + (std::get<1>(info.param) ? "Checked" : "");
                         });

TEST_P(OneExecutable, IsCalledByTwoThreads) {
  const auto [device, checked] = GetParam();
  constexpr std::int64_t n = 1000;
  const runtime::Executable e(runtime::open_device(device), sum_of_squares(registry(), n), catalog(),
                              {.checked = checked});
  HostTensor index(DType::i32, {n}), outside(DType::i32, {n});
  for (std::int64_t i = 0; i < n; ++i) index.set_i64(i, n - 1 - i);
  outside.set_i64(7, n + 5);
  at_once([&](int t) {
    HostTensor x(DType::f64, {n});
    for (std::int64_t i = 0; i < n; ++i) x.set_f64(i, t + 1);
    const HostValues sound{x, index}, unsound{x, outside};
    for (int round = 0; round < rounds; ++round) {
      EXPECT_EQ(std::get<HostTensor>(e.run(sound)[0]).get_f64(0), static_cast<double>(n * (t + 1) * (t + 1)));
      // The refusal of one call is never the other thread's.
      if (checked && t == 0) { EXPECT_THROW(e.run(unsound), ArgumentError); }
    }
  });
}

TEST(CompiledFunctions, AreCompiledByTwoThreadsAtOnce) {
  for (int round = 0; round < 5; ++round) {
    const auto f = jit([](const Tensor& x) { return sum(exp(x) * x); });
    at_once([&](int) { EXPECT_EQ(f(Tensor::from({0.0, 0.0, 0.0})).item(), 0); });
    EXPECT_EQ(f.signatures(), 1u);
  }
}

TEST(CompiledFunctions, OfTheirOwnAreMadeByTwoThreadsAtOnce) {
  at_once([&](int t) {
    for (int round = 0; round < 5; ++round) {
      const auto f = jit([&](const Tensor& x) { return sum(x * x + t); });
      EXPECT_EQ(f(Tensor::from({1.0, 2.0})).item(), 5 + 2 * t);
      const Tensor y = Tensor::from({1.0, 2.0}) * 3.0 + t;  // Eager calls share the process' programs.
      EXPECT_EQ(sum(y).item(), 9 + 2 * t);
    }
  });
}

/// A family of one operator, of another name each time.
void add_another(runtime::Catalog& catalog) {
  static auto& names = *new std::deque<std::string>;
  static auto& definitions = *new std::deque<OpDef<NoAttributes>>;
  static constexpr Operand operand[] = {{"x", floating}};
  definitions.push_back(
      {.name = std::string_view(names.emplace_back("threads.same" + std::to_string(names.size()))),
       .doc = "x.",
       .operands = operand,
       .constraints = {},
       .infer = [](const NoAttributes&, const Signature& s) -> Types { return {s.types[0]}; },
       .meaning = Composite<NoAttributes>{[](Builder&, const NoAttributes&, ValuesIn x) { return Values{x[0]}; }},
       .vjp = Derived{},
       .jvp = Derived{},
       .batch = Derived{},
       .shard = Derived{},
       .cost = Derived{},
       .samples = [] { return std::vector<Sample<NoAttributes>>{}; }});
  catalog.operators.add(definitions.back());
}

// A count that is new is compiled for in the call, which looks operators up while the other thread adds some.
TEST(CompiledFunctions, MeetSizesWhileFamiliesAreAdded) {
  constexpr int sizes = 12;
  const auto f = jit([](const Tensor& x) { return sum(compress(x, x > 0)); });
  const auto ones = [](int count) {
    HostTensor x(DType::f64, {1 << sizes});
    for (int i = 0; i < count; ++i) x.set_f64(i, 1);
    return Tensor(x);
  };
  ASSERT_EQ(f(ones(1)).item(), 1);
  at_once([&](int t) {
    for (int k = 1; k <= sizes; ++k) {
      if (t == 1) extend_default_catalog("threads" + std::to_string(k), add_another);
      else EXPECT_EQ(f(ones(1 << k)).item(), 1 << k);
    }
  });
}

}  // namespace
}  // namespace rlx
