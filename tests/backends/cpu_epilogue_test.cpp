// Elementwise kernels that a product's or a convolution's call runs on parts of its result: which join, in one step,
// with the bits of separate steps for any number of threads, and the values of the host reference.
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

struct Case {
  const char* name;
  std::vector<TensorType> in;
  std::function<Values(Builder&, ValuesIn)> body;
  std::size_t steps = 1;  ///< Of the program with fusion.
  bool joins = true;      ///< Whether a step holds a call and a kernel.
  double tolerance = 1e-5;
};

Value relu(Value x) { return ops::max(x, ops::zeros_like(x)); }
TensorType f32(Shape s) { return tensor(DType::f32, std::move(s)); }

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"bias_and_relu",
       {f32({70, 90}), f32({90, 110}), f32({110})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {70, 110})))};
       }},
      {"flat",  // every operand has the result's shape
       {f32({70, 90}), f32({90, 110}), f32({70, 110})},
       [](Builder&, ValuesIn x) { return Values{ops::tanh(ops::add(ops::matmul(x[0], x[1]), x[2]))}; }},
      {"several_blocks_of_rows",
       {f32({900, 300}), f32({300, 70}), f32({70})},
       [](Builder&, ValuesIn x) {
         return Values{ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {900, 70}))};
       }},
      {"few_rows",  // columns are shared among threads
       {f32({20, 500}), f32({500, 3000}), f32({3000})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {20, 3000})))};
       }},
      {"deep",  // several blocks along k
       {f32({40, 5000}), f32({5000, 60}), f32({60})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {40, 60})))};
       },
       1,
       true,
       1e-4},
      {"batch",
       {f32({37, 20, 30}), f32({37, 30, 40}), f32({40})},
       [](Builder&, ValuesIn x) {
         return Values{ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {37, 20, 40}))};
       }},
      {"other_type",
       {f32({70, 90}), f32({90, 110})},
       [](Builder&, ValuesIn x) { return Values{ops::convert(ops::matmul(x[0], x[1]), DType::f64)}; }},
      {"two_results",
       {f32({70, 90}), f32({90, 110}), f32({110})},
       [](Builder&, ValuesIn x) {
         const Value y = ops::matmul(x[0], x[1]);
         return Values{y, relu(y)};
       }},
      {"bf16",
       {tensor(DType::bf16, {70, 90}), tensor(DType::bf16, {90, 110}), tensor(DType::bf16, {110})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {70, 110})))};
       },
       1,
       true,
       0.05},
      {"two_layers",
       {f32({70, 90}), f32({90, 110}), f32({110, 50})},
       [](Builder&, ValuesIn x) { return Values{relu(ops::matmul(relu(ops::matmul(x[0], x[1])), x[2]))}; },
       2},
      {"convolution",
       {f32({2, 12, 12, 8}), f32({3, 3, 8, 16}), f32({16})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::conv(x[0], x[1], {.low = {1, 1}, .high = {1, 1}}),
                                     ops::broadcast_to(x[2], {2, 12, 12, 16})))};
       }},
      {"convolution_in_groups",
       {f32({2, 12, 12, 8}), f32({3, 3, 4, 16}), f32({16})},
       [](Builder&, ValuesIn x) {
         return Values{ops::add(ops::conv(x[0], x[1], {.groups = 2}), ops::broadcast_to(x[2], {2, 10, 10, 16}))};
       }},
      {"transposed",  // reads the product at another place than it writes
       {f32({70, 90}), f32({90, 110})},
       [](Builder&, ValuesIn x) { return Values{relu(ops::transpose(ops::matmul(x[0], x[1]), {1, 0}))}; },
       2,
       false},
      {"reduced",
       {f32({70, 90}), f32({90, 110})},
       [](Builder&, ValuesIn x) { return Values{ops::reduce_sum(ops::matmul(x[0], x[1]), {1})}; },
       2,
       false},
  };
  return all;
}

HostValues inputs(const Case& c) {
  HostValues out;
  std::mt19937 g(7);
  for (const TensorType& t : c.in) {
    HostTensor x(t.dtype, constant_shape(t.shape));
    for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, std::uniform_real_distribution<double>(-0.5, 0.5)(g));
    out.push_back(std::move(x));
  }
  return out;
}

class CpuEpilogue : public ::testing::TestWithParam<std::size_t> {};
TEST_P(CpuEpilogue, OneStepWithTheBitsOfTwo) {
  const Case& c = cases()[GetParam()];
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
    const runtime::Executable joined(device, g, catalog), apart(device, g, catalog, {.fuse = false});
    const DispatchReport& report = joined.report();
    EXPECT_EQ(report.steps.size(), c.steps) << report.to_json();
    std::size_t both = 0;
    for (const StepRow& s : report.steps) both += s.name.find(" + ") != std::string::npos;
    EXPECT_EQ(both, c.joins ? c.steps : 0) << report.to_json();
    if (c.joins) {  // the product's row and the last node's name the same step
      std::size_t rows = 0;
      for (const ReportRow& r : report.rows)
        rows += std::count(r.steps.begin(), r.steps.end(), report.steps.back().name) > 0;
      EXPECT_GE(rows, 2u) << report.to_json();
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
        for (std::int64_t i = 0; i < x.numel(); ++i)
          ASSERT_NEAR(x.get_f64(i), want.get_f64(i), c.tolerance * (1 + std::abs(want.get_f64(i)))) << i;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Cases, CpuEpilogue, ::testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& i) { return std::string(cases()[i.param].name); });

// The state is an operand of the product: what the kernel writes must not be its memory while the call runs.
TEST(CpuEpilogueLoop, StateThatTheProductReads) {
  const runtime::Catalog catalog = make_catalog();
  Graph g("power");
  Builder b(g, catalog.operators);
  const Value x = b.input(f32({40, 40}), "x"), w = b.input(f32({40, 40}), "w"),
              n = b.input(tensor(DType::i64, {}), "n");
  const Values out = ops::while_(
      Values{x, n}, Values{w},
      [&](ValuesIn s) { return Values{ops::compare(s[1], ops::zeros_like(s[1]), ops::Direction::gt)}; },
      [&](ValuesIn s) { return Values{ops::tanh(ops::matmul(s[0], s[2])), ops::sub(s[1], ops::full_like(s[1], 1))}; });
  b.output(out[0], "y");
  HostTensor a(DType::f32, {40, 40}), c(DType::f32, {40, 40}), count(DType::i64, {});
  for (std::int64_t i = 0; i < 1600; ++i)
    a.set_f64(i, std::sin(static_cast<double>(i))), c.set_f64(i, std::cos(static_cast<double>(i)) / 6);
  count.set_i64(0, 5);
  const HostValues arguments{a, c, count}, want = evaluate(g, catalog.operators, arguments);
  const runtime::Executable program(cpu::open_device({}), g, catalog);
  const HostValues got = program.run(arguments);
  for (std::int64_t i = 0; i < 1600; ++i)
    ASSERT_NEAR(std::get<HostTensor>(got[0]).get_f64(i), std::get<HostTensor>(want[0]).get_f64(i), 1e-4) << i;
}

}  // namespace
}  // namespace rlx
