// Sums over segments of what indices choose, with gathers and entry by entry, whichever this processor prefers.
#include "backends/cpu/cpu_device.hpp"
#include "catalog.hpp"

#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace rlx::segments {
namespace {

using Integers = std::vector<std::int64_t>;

struct Rows {
  Integers offsets = Integers(1, 0), columns{};
  std::vector<double> values{};
};

constexpr std::int64_t width = 50;

// Of 0 to 70 entries, in no order; numbers whose sums are exact in any order.
Rows rows(std::int64_t count) {
  std::mt19937 g(7);
  std::uniform_int_distribution<std::int64_t> length(0, 70), column(0, width - 1), number(-8, 8);
  Rows r;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t k = i < 40 ? i : length(g); k > 0; --k) {
      r.columns.push_back(column(g));
      r.values.push_back(static_cast<double>(number(g)));
    }
    r.offsets.push_back(static_cast<std::int64_t>(r.columns.size()));
  }
  return r;
}

HostTensor integers(DType t, const Integers& v) {
  HostTensor x(t, {static_cast<std::int64_t>(v.size())});
  for (std::size_t i = 0; i < v.size(); ++i) x.set_i64(static_cast<std::int64_t>(i), v[i]);
  return x;
}

struct Problem {
  Graph graph{"segments"};
  HostValues arguments;
};

Problem problem(const Rows& r, DType number, DType index, ops::Combine kind) {
  Problem p;
  const auto n = static_cast<std::int64_t>(r.values.size());
  HostTensor x(number, {width});
  for (std::int64_t i = 0; i < width; ++i) x.set_f64(i, static_cast<double>(i % 7) - 3);
  p.arguments = {HostTensor::from(number, {n}, r.values), x, integers(index, r.columns), integers(index, r.offsets)};
  Builder b(p.graph, catalog().operators);
  Values in;
  for (const HostValue& v : p.arguments) in.push_back(b.input(type_of(v), "x" + std::to_string(in.size())));
  b.output(ops::segment_reduce(in[0] * ops::take(in[1], in[2], 0), in[3], kind), "y");
  return p;
}

std::shared_ptr<cpu::CpuDevice> device_of(emit_llvm::Isa isa, bool slow_gathers, int threads = 1) {
  return cpu::open_device(
      {.isa = isa, .threads = threads, .cache = runtime::DiskCache::Options{}, .slow_gathers = slow_gathers});
}

std::vector<emit_llvm::Isa> levels() {
  std::vector<emit_llvm::Isa> all;
  for (auto i : {emit_llvm::Isa::generic, emit_llvm::Isa::avx2, emit_llvm::Isa::avx512})
    if (i <= emit_llvm::best_host_isa()) all.push_back(i);
  return all;
}

HostTensor run(const std::shared_ptr<runtime::Device>& device, const Problem& p, bool checked = false) {
  const runtime::Executable e(device, p.graph, catalog(), {.checked = checked});
  return std::get<HostTensor>(e.run(p.arguments)[0]);
}

void expect_as_the_reference(const Problem& p) {
  const HostTensor expected = run(runtime::open_device("reference"), p);
  for (const emit_llvm::Isa isa : levels())
    for (const bool slow : {false, true})
      EXPECT_EQ(run(device_of(isa, slow), p), expected) << name(isa) << (slow ? ", entry by entry" : "");
}

TEST(CpuSegments, OfAnyLengthAreTheReferences) {
  const Rows r = rows(400);
  for (const DType number : {DType::f64, DType::f32, DType::i32})
    for (const DType index : {DType::i32, DType::i64})
      expect_as_the_reference(problem(r, number, index, ops::Combine::add));
  for (const ops::Combine kind : {ops::Combine::min, ops::Combine::max})
    expect_as_the_reference(problem(r, DType::f64, DType::i32, kind));
}

// Indices are clamped, offsets cut to what there is.
TEST(CpuSegments, OutOfRangeIsClamped) {
  Rows r = rows(100);
  for (std::size_t k = 0; k < r.columns.size(); k += 5) r.columns[k] = k % 2 ? -3 : width + 9;
  r.columns[1] = INT32_MIN, r.columns[2] = INT32_MAX;
  r.offsets[50] = -4, r.offsets[70] = 1 << 30, r.offsets.back() = 1 << 30;
  for (const DType index : {DType::i32, DType::i64})
    expect_as_the_reference(problem(r, DType::f64, index, ops::Combine::add));
}

TEST(CpuSegments, CheckedModeNamesTheFirst) {
  Rows r = rows(100);
  r.columns[700] = width, r.columns[900] = -1;
  const Problem p = problem(r, DType::f64, DType::i32, ops::Combine::add);
  for (const emit_llvm::Isa isa : levels())
    for (const bool slow : {false, true}) try {
        run(device_of(isa, slow), p, true);
        ADD_FAILURE() << "accepted by " << name(isa);
      } catch (const ArgumentError& e) {
        EXPECT_NE(std::string(e.what()).find("gather index 50 is out of range"), std::string::npos) << e.what();
      }
}

// Numbers whose sums depend on their order: that is one for all numbers of threads.
TEST(CpuSegments, BitsDoNotDependOnThreads) {
  Rows r = rows(3000);
  std::mt19937 g(3);
  std::uniform_real_distribution<double> real(-1, 1);
  for (double& v : r.values) v = real(g);
  const Problem p = problem(r, DType::f64, DType::i32, ops::Combine::add);
  const HostTensor sums = run(device_of(emit_llvm::best_host_isa(), true), p);
  for (const int threads : {2, 4}) EXPECT_EQ(run(device_of(emit_llvm::best_host_isa(), true, threads), p), sums);
  const HostTensor expected = run(runtime::open_device("reference"), p);
  // Seventy terms of at most 3: their roundings.
  for (std::int64_t i = 0; i < sums.numel(); ++i) ASSERT_NEAR(sums.get_f64(i), expected.get_f64(i), 70 * 210 * 2.3e-16);
}

}  // namespace
}  // namespace rlx::segments
