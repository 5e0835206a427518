// Convolutions of the packed kernel against a plain sum in f64, on every level this processor has.
#include "backends/cpu/cpu_device.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ir/builder.hpp>
#include <rlx/ops/attributes/contraction.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <omp.h>

namespace rlx {
namespace {

using Sizes = std::vector<std::int64_t>;

struct ConvCase {
  const char* name;
  Sizes input, kernel;
  ops::ConvAttrs attrs{};
};
const ConvCase conv_cases[] = {
    {"plain", {2, 9, 11, 16}, {3, 3, 16, 24}},
    {"one_by_one", {2, 7, 9, 33}, {1, 1, 33, 50}},
    {"three_channels", {1, 12, 13, 3}, {3, 3, 3, 8}, {.low = {1, 1}, .high = {1, 1}}},
    {"padding", {2, 8, 10, 12}, {3, 5, 12, 20}, {.low = {1, 2}, .high = {1, 3}}},
    {"cropping", {1, 12, 12, 8}, {3, 3, 8, 16}, {.low = {-2, 1}, .high = {1, -3}}},
    {"stride", {2, 13, 14, 8}, {3, 2, 8, 16}, {.stride = {2, 3}, .low = {1, 0}}},
    {"kernel_dilation", {1, 17, 15, 8}, {3, 3, 8, 16}, {.low = {2, 2}, .high = {2, 2}, .kernel_dilation = {2, 3}}},
    {"input_dilation", {2, 6, 5, 8}, {3, 3, 8, 16}, {.low = {1, 2}, .high = {2, 1}, .input_dilation = {2, 3}}},
    {"groups", {2, 10, 9, 24}, {3, 3, 8, 15}, {.low = {1, 1}, .high = {1, 1}, .groups = 3}},
    {"one_dimension", {3, 40, 17}, {5, 17, 19}, {.stride = {2}, .low = {2}, .high = {2}}},
    {"three_dimensions", {1, 6, 5, 7, 8}, {2, 3, 3, 8, 12}, {.low = {0, 1, 1}, .high = {1, 1, 0}}},
    {"deep", {1, 6, 6, 300}, {3, 3, 300, 40}, {.low = {1, 1}, .high = {1, 1}}},
};

HostTensor random_array(DType t, Sizes shape, unsigned seed) {
  HostTensor x(t, std::move(shape));
  std::mt19937 g(seed);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, std::uniform_real_distribution<double>(-1, 1)(g));
  return x;
}

std::int64_t entry(const Sizes& list, std::size_t d, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[d];
}

/// Calls f for each position, the last dimension fastest.
template <class F>
void each(const Sizes& extents, F f) {
  Sizes p(extents.size(), 0);
  std::int64_t total = 1;
  for (std::int64_t e : extents) total *= e;
  for (std::int64_t i = 0; i < total; ++i) {
    f(p, i);
    for (std::size_t d = p.size(); d-- > 0 && ++p[d] == extents[d];) p[d] = 0;
  }
}

/// Each sum has k roundings of the sums' type at most, then one of the result's.
void check_conv(const ConvCase& c, const HostTensor& x, const HostTensor& k, const HostTensor& y) {
  const DType t = x.dtype();
  const double unit = t == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double last = t == DType::bf16 ? 0x1p-8 : t == DType::f16 ? 0x1p-11 : 0;
  const std::size_t spatial = c.input.size() - 2;
  const std::int64_t channels = c.kernel[spatial], features = c.kernel.back() / c.attrs.groups;
  const Sizes patch(c.kernel.begin(), c.kernel.end() - 1);
  int bad = 0;
  each(y.shape(), [&](const Sizes& p, std::int64_t i) {
    double sum = 0, magnitude = 0;
    std::int64_t terms = 0;
    each(patch, [&](const Sizes& w, std::int64_t j) {
      std::int64_t from = p[0];
      for (std::size_t d = 0; d < spatial; ++d) {
        const std::int64_t at = p[d + 1] * entry(c.attrs.stride, d, 1) + w[d] * entry(c.attrs.kernel_dilation, d, 1) -
                                entry(c.attrs.low, d, 0),
                           gap = entry(c.attrs.input_dilation, d, 1);
        if (at < 0 || at % gap || at / gap >= c.input[d + 1]) return;
        from = from * c.input[d + 1] + at / gap;
      }
      from = from * c.input.back() + p.back() / features * channels + w.back();
      const double v = x.get_f64(from) * k.get_f64(j * c.kernel.back() + p.back());
      sum += v, magnitude += std::abs(v), ++terms;
    });
    const double bound = static_cast<double>(terms + 1) * unit * magnitude * 1.01 + last * std::abs(sum) * 1.01 +
                         (t == DType::f16 ? 0x1p-25 : 0);
    if (!(std::abs(y.get_f64(i) - sum) <= bound) && ++bad == 1)
      ADD_FAILURE() << "element " << i << " is " << y.get_f64(i) << ", expected " << sum;
  });
  EXPECT_EQ(bad, 0);
}

class CpuConv : public ::testing::TestWithParam<DType> {};
TEST_P(CpuConv, EveryAttribute) {
  const runtime::Catalog catalog = make_catalog();
  for (auto isa : {emit_llvm::Isa::generic, emit_llvm::Isa::avx2, emit_llvm::Isa::avx512}) {
    if (isa > emit_llvm::best_host_isa()) continue;
    const std::shared_ptr<cpu::CpuDevice> device = cpu::open_device({.isa = isa});
    for (const ConvCase& c : conv_cases) {
      SCOPED_TRACE(std::string(name(isa)) + " " + c.name);
      const HostTensor x = random_array(GetParam(), c.input, 3), k = random_array(GetParam(), c.kernel, 4);
      Graph g("conv");
      Builder build(g, catalog.operators);
      const auto type = [](DType t, const Sizes& s) { return tensor(t, Shape(s.begin(), s.end())); };
      const Value l = build.input(type(GetParam(), c.input), "x"), r = build.input(type(GetParam(), c.kernel), "k");
      build.output(build.emit("conv", {l, r}, c.attrs).front(), "y");
      const runtime::Executable program(device, g, catalog);
      ASSERT_EQ(program.report().rows.at(0).lowering, "cpu.conv");
      const auto run = [&](int threads) {
        const int before = omp_get_max_threads();
        omp_set_num_threads(threads);
        HostValues out = program.run(std::vector<HostValue>{x, k});
        omp_set_num_threads(before);
        return std::get<HostTensor>(std::move(out[0]));
      };
      const HostTensor y = run(1);
      check_conv(c, x, k, y);
      for (int threads : {2, 4}) EXPECT_TRUE(y.identical(run(threads))) << threads << " threads";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Types, CpuConv, ::testing::Values(DType::f32, DType::f64, DType::bf16, DType::f16),
                         [](const auto& i) { return std::string(name(i.param)); });

}  // namespace
}  // namespace rlx
