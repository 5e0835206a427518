// The host's sort and top_k against the operators' references: same bits.
#include "backends/cpu/cpu_device.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "catalog.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ops/attributes/indexing.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace rlx {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Few values, so that ties are frequent; zeros of both signs and NaN among floats.
HostTensor repeated(DType t, Sizes shape, unsigned seed, int values = 9) {
  HostTensor x(t, std::move(shape));
  std::mt19937 g(seed);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const int v = static_cast<int>(g() % static_cast<unsigned>(values));
    if (!is_floating(t)) x.set_i64(i, t == DType::boolean ? v & 1 : is_signed_integer(t) ? v - 4 : v);
    else x.set_f64(i, v == 0 ? -0.0 : v == 1 ? 0.0 : v == 2 ? NAN : v == 3 ? INFINITY : v == 4 ? -INFINITY : v - 6.5);
  }
  return x;
}

void expect_as_reference(const char* op, const AnyAttrs& attrs, const std::vector<HostTensor>& in, const char* record) {
  Graph g("g");
  Builder b(g, catalog().operators);
  Values values;
  HostValues arguments;
  for (const HostTensor& x : in) {
    values.push_back(
        b.input(tensor(x.dtype(), Shape(x.shape().begin(), x.shape().end())), "x" + std::to_string(values.size())));
    arguments.emplace_back(x);
  }
  const Values out = b.emit(op, values, attrs);
  for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], "y" + std::to_string(i));
  const runtime::Executable program(cpu::open_device(), g, catalog());
  ASSERT_EQ(program.report().rows.at(0).lowering, record);
  const HostValues got = program.run(arguments), want = evaluate(g, catalog().operators, arguments);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(std::get<HostTensor>(got[i]).identical(std::get<HostTensor>(want[i])))
        << op << " result " << i << " of " << to_string(g.type(g.inputs()[0]));
}

class CpuSort : public ::testing::TestWithParam<DType> {};

TEST_P(CpuSort, AnyAxisEitherDirection) {
  for (int axis = 0; axis < 3; ++axis)
    for (bool descending : {false, true})
      for (std::int64_t n : {1, 7, 700}) {
        Sizes shape{3, 2, 5};
        shape[static_cast<std::size_t>(axis)] = n;
        const HostTensor x = repeated(GetParam(), shape, static_cast<unsigned>(n));
        HostTensor ids(DType::i32, shape);
        for (std::int64_t i = 0; i < ids.numel(); ++i) ids.set_i64(i, i);
        expect_as_reference("sort", ops::SortAttrs{axis, 1, {descending}}, {x, ids}, "cpu.sort");
      }
}
TEST_P(CpuSort, AsPayload) {
  expect_as_reference("sort", ops::SortAttrs{1, 1, {}},
                      {repeated(DType::i16, {4, 33}, 1, 200), repeated(GetParam(), {4, 33}, 2)}, "cpu.sort");
}
std::string type_name(const ::testing::TestParamInfo<DType>& i) { return std::string(name(i.param)); }
INSTANTIATE_TEST_SUITE_P(Types, CpuSort,
                         ::testing::Values(DType::f16, DType::bf16, DType::f32, DType::f64, DType::i4, DType::i8,
                                           DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32,
                                           DType::u64, DType::boolean, DType::f8e4m3fn, DType::f8e5m2,
                                           DType::f8e4m3fnuz, DType::f8e5m2fnuz),
                         type_name);

TEST(CpuSortKeys, SeveralKeysOfSeveralTypes) {
  for (std::int64_t n : {5, 40, 900})
    expect_as_reference("sort", ops::SortAttrs{0, 3, {false, true, true}},
                        {repeated(DType::f32, {n, 3}, 1), repeated(DType::i8, {n, 3}, 2),
                         repeated(DType::f64, {n, 3}, 3), repeated(DType::c128, {n, 3}, 4)},
                        "cpu.sort");
}
TEST(CpuSortKeys, ExtremeIntegers) {
  for (bool descending : {false, true}) {
    HostTensor x(DType::i64, {4}), y(DType::u64, {4});
    const std::int64_t v[] = {0, INT64_MAX, INT64_MIN, -1};
    for (int i = 0; i < 4; ++i) x.set_i64(i, v[i]), y.set_u64(i, static_cast<std::uint64_t>(v[i]));
    expect_as_reference("sort", ops::SortAttrs{0, 1, {descending}}, {x}, "cpu.sort");
    expect_as_reference("sort", ops::SortAttrs{0, 1, {descending}}, {y}, "cpu.sort");
  }
}

// Long lines are shared among threads; their number changes nothing.
TEST(CpuSortKeys, LongLines) {
  std::mt19937 g(5);
  HostTensor x(DType::f32, {2, 200003}), y(DType::f64, {150001});
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, std::normal_distribution<double>()(g));
  for (std::int64_t i = 0; i < y.numel(); ++i) y.set_f64(i, static_cast<double>(g() % 1000));
  HostTensor ids(DType::u32, {150001});
  for (std::int64_t i = 0; i < ids.numel(); ++i) ids.set_i64(i, i);
  const char* saved = std::getenv("RLX_THREADS");
  const std::string before = saved ? saved : "";
  for (const char* threads : {"1", "2", "4"}) {
    ::setenv("RLX_THREADS", threads, 1);
    expect_as_reference("sort", ops::SortAttrs{1, 1, {}}, {x}, "cpu.sort");
    expect_as_reference("sort", ops::SortAttrs{0, 1, {true}}, {y, ids}, "cpu.sort");
    expect_as_reference("top_k", ops::TopKAttrs{100}, {x}, "cpu.top_k");
    expect_as_reference("top_k", ops::TopKAttrs{100000}, {y}, "cpu.top_k");
  }
  saved ? ::setenv("RLX_THREADS", before.c_str(), 1) : ::unsetenv("RLX_THREADS");
}

class CpuTopK : public ::testing::TestWithParam<DType> {};
TEST_P(CpuTopK, TiesAndNans) {
  for (std::int64_t n : {1, 13, 600})
    for (std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 9, n / 2, n})
      if (k <= n)
        expect_as_reference("top_k", ops::TopKAttrs{k}, {repeated(GetParam(), {3, n}, static_cast<unsigned>(n))},
                            "cpu.top_k");
}
INSTANTIATE_TEST_SUITE_P(Types, CpuTopK,
                         ::testing::Values(DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8, DType::i16,
                                           DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64),
                         type_name);

}  // namespace
}  // namespace rlx
