// Elementwise kernels that a product's or a convolution's call runs, on pieces of its operands and on parts of its
// result: which join, in one step, with the bits of separate steps for any number of threads, and the values of the
// host reference.
#include "cpu_fused_cases.hpp"

#include "backends/cpu/cpu_device.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ir/builder.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ops/attributes.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include <omp.h>

namespace rlx {
namespace {

HostValues inputs(const FusedCase& c) {
  HostValues out;
  std::mt19937 g(7);
  for (const TensorType& t : c.in) {
    HostTensor x(t.dtype, constant_shape(t.shape));
    for (std::int64_t i = 0; i < x.numel(); ++i)
      if (is_floating(t.dtype)) x.set_f64(i, std::uniform_real_distribution<double>(-0.5, 0.5)(g));
      else x.set_i64(i, std::uniform_int_distribution<int>(0, 60)(g));
    if (c.special) {  // in few rows of the first and few columns of the second
      x.set_f64(3, std::nan("")), x.set_f64(7, HUGE_VAL);
      x.set_f64(x.numel() - 2, -HUGE_VAL);
    }
    out.push_back(std::move(x));
  }
  return out;
}

class CpuFusedCalls : public ::testing::TestWithParam<std::size_t> {};
TEST_P(CpuFusedCalls, OneStepWithTheBitsOfSeveral) {
  const FusedCase& c = fused_cases()[GetParam()];
  const runtime::Catalog catalog = make_catalog();
  Graph g(c.name);
  Builder b(g, catalog.operators);
  Values in;
  for (std::size_t i = 0; i < c.in.size(); ++i) in.push_back(b.input(c.in[i], "x" + std::to_string(i)));
  const Values results = c.body(b, in);
  for (std::size_t i = 0; i < results.size(); ++i) b.output(results[i], "y" + std::to_string(i));
  const HostValues arguments = inputs(c), expected = evaluate(g, catalog.operators, arguments);

  for (auto isa : {emit_llvm::Isa::generic, emit_llvm::Isa::avx2, emit_llvm::Isa::avx512}) {
    if (isa > emit_llvm::best_host_isa()) continue;
    SCOPED_TRACE(name(isa));
    const std::shared_ptr<cpu::CpuDevice> device = cpu::open_device({.isa = isa});
    const runtime::Executable joined(device, g, catalog, {.checked = false}),
        apart(device, g, catalog, {.checked = false, .fuse = false});
    const DispatchReport& report = joined.report();
    EXPECT_EQ(report.steps.size(), c.steps) << report.to_json();
    std::size_t joined_steps = 0, kernels = 0;
    for (const StepRow& s : report.steps) {
      std::size_t parts = 1;
      for (std::size_t at = 0; (at = s.name.find(" + ", at)) != std::string::npos; ++at) ++parts;
      if (parts == 1) continue;
      ++joined_steps, kernels += parts - 1;
      // Each part has a row of its own that names the step: the product's, and those of the kernels' nodes.
      std::size_t rows = 0;
      for (const ReportRow& r : report.rows) rows += std::count(r.steps.begin(), r.steps.end(), s.name) > 0;
      EXPECT_GE(rows, parts) << report.to_json();
    }
    EXPECT_EQ(joined_steps, c.joined) << report.to_json();
    EXPECT_EQ(kernels, c.kernels) << report.to_json();
    if (!c.note.empty()) {
      std::string notes;
      for (const ReportRow& r : report.rows)
        for (const std::string& n : r.notes) notes += n + "\n";
      EXPECT_NE(notes.find(c.note), std::string::npos) << notes;
    }
    for (int threads : {1, 2, 4}) {
      const int before = omp_get_max_threads();
      omp_set_num_threads(threads);
      const HostValues got = joined.run(arguments), separate = apart.run(arguments);
      omp_set_num_threads(before);
      for (std::size_t r = 0; r < got.size(); ++r) {
        const auto& x = std::get<HostTensor>(got[r]);
        const auto& want = std::get<HostTensor>(expected[r]);
        EXPECT_TRUE(x.identical(std::get<HostTensor>(separate[r]))) << threads << " threads, result " << r;
        for (std::int64_t i = 0; i < x.numel(); ++i) {
          const double w = want.get_f64(i);
          if (std::isfinite(w)) ASSERT_NEAR(x.get_f64(i), w, c.tolerance * (1 + std::abs(w))) << i;
          else if (std::isnan(w)) ASSERT_TRUE(std::isnan(x.get_f64(i))) << i;
          else ASSERT_EQ(x.get_f64(i), w) << i;
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Cases, CpuFusedCalls, ::testing::Range<std::size_t>(0, fused_cases().size()),
                         [](const auto& i) { return std::string(fused_cases()[i.param].name); });

TEST(CpuFusedCallsReport, WhatTheyHandToEachOtherIsNotMoved) {
  const runtime::Catalog catalog = make_catalog();
  Graph g("product");
  Builder b(g, catalog.operators);
  const Value x = b.input(f32({90, 70}), "x"), w = b.input(f32({70, 110}), "w");
  b.output(relu(ops::matmul(relu(x), w)), "y");
  const runtime::Executable e(cpu::open_device({}), g, catalog);
  ASSERT_EQ(e.report().steps.size(), 1u) << e.report().to_json();
  const StepRow& s = e.report().steps[0];
  EXPECT_EQ(s.kind, "call");
  EXPECT_EQ(s.bytes, 4 * (90 * 70 + 70 * 110 + 90 * 110));
  EXPECT_EQ(s.flops, 2.0 * 90 * 70 * 110 + 90 * 70 + 90 * 110);  // max: one an element.
  EXPECT_GT(s.kernel_operations, 0);
}

// Checked mode says which index is out of range, which a kernel inside a call cannot.
TEST(CpuFusedCallsChecked, IndicesStayAStepOfTheirOwn) {
  const runtime::Catalog catalog = make_catalog();
  Graph g("rows");
  Builder b(g, catalog.operators);
  const Value x = b.input(f32({50, 40}), "x"), w = b.input(f32({40, 40}), "w"),
              at = b.input(tensor(DType::i32, {40}), "at");
  b.output(ops::matmul(ops::take(x, at, 0), w), "y");
  const runtime::Executable checked(cpu::open_device({}), g, catalog, {.checked = true}),
      plain(cpu::open_device({}), g, catalog, {.checked = false});
  EXPECT_EQ(checked.report().steps.size(), 2u) << checked.report().to_json();
  EXPECT_EQ(plain.report().steps.size(), 1u) << plain.report().to_json();
  HostTensor rows(DType::i32, {40});
  for (std::int64_t i = 0; i < 40; ++i) rows.set_i64(i, i);
  const HostValues good{HostTensor(DType::f32, {50, 40}), HostTensor(DType::f32, {40, 40}), rows};
  EXPECT_NO_THROW(checked.run(good));
  rows.set_i64(17, 50);
  const HostValues bad{good[0], good[1], rows};
  EXPECT_THROW(checked.run(bad), ArgumentError);
}

/// x after five rounds of `body`, which gets x and w, against the host reference.
void check_loop(const std::function<Value(Value, Value)>& body) {
  const runtime::Catalog catalog = make_catalog();
  Graph g("rounds");
  Builder b(g, catalog.operators);
  const Value x = b.input(f32({40, 40}), "x"), w = b.input(f32({40, 40}), "w"),
              n = b.input(tensor(DType::i64, {}), "n");
  const Values out = ops::while_(
      Values{x, n}, Values{w},
      [&](ValuesIn s) { return Values{ops::compare(s[1], ops::zeros_like(s[1]), ops::Direction::gt)}; },
      [&](ValuesIn s) { return Values{body(s[0], s[2]), ops::sub(s[1], ops::full_like(s[1], 1))}; });
  b.output(out[0], "y");
  HostTensor a(DType::f32, {40, 40}), c(DType::f32, {40, 40}), count(DType::i64, {});
  for (std::int64_t i = 0; i < 1600; ++i)
    a.set_f64(i, std::sin(static_cast<double>(i))), c.set_f64(i, std::cos(static_cast<double>(i)) / 6);
  count.set_i64(0, 5);
  const HostValues arguments{a, c, count}, want = evaluate(g, catalog.operators, arguments);
  const HostValues got = runtime::Executable(cpu::open_device({}), g, catalog).run(arguments);
  for (std::int64_t i = 0; i < 1600; ++i)
    ASSERT_NEAR(std::get<HostTensor>(got[0]).get_f64(i), std::get<HostTensor>(want[0]).get_f64(i), 1e-4) << i;
}

// The state is an operand of the product: what the kernel writes must not be its memory while the call runs.
TEST(CpuFusedCallsInLoops, StateThatTheProductReads) {
  check_loop([](Value x, Value w) { return ops::tanh(ops::matmul(x, w)); });
}
// The state is what an operand is made from: the call must not write it while the kernel reads.
TEST(CpuFusedCallsInLoops, StateThatAnOperandIsMadeFrom) {
  check_loop([](Value x, Value w) { return ops::matmul(ops::tanh(x), w); });
  check_loop([](Value x, Value w) { return ops::tanh(ops::matmul(ops::tanh(x), ops::tanh(w))); });
}

}  // namespace
}  // namespace rlx
