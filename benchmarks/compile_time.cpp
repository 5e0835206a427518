// Time to compile a graph of 50 operators, without and with the disk cache, and to call a cached executable of one
// small kernel. The limits are absolute, so the rival's column holds them.
#include "benchmarks/bench.hpp"

#include "backends/cpu/cpu_device.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/executable.hpp>

#include <cstdlib>
#include <filesystem>

using namespace rlx;

namespace {

Graph fifty(const Registry& registry) {
  Graph g("fifty");
  Builder b(g, registry);
  Value x = b.input(f32({256, 256}), "x");
  for (int i = 0; i < 10; ++i) {
    x = ops::tanh(ops::matmul(x, x));
    x = ops::sub(x, ops::reduce_max(x, {1}, true));
  }
  b.output(x, "y");
  return g;
}

}  // namespace

int main() {
  const std::string folder = (std::filesystem::temp_directory_path() / "rlx_bench_cache").string();
  std::filesystem::remove_all(folder);
  ::setenv("RLX_CACHE_DIR", folder.c_str(), 1);
  const runtime::Catalog catalog = make_catalog();
  const Graph g = fifty(catalog.operators);
  const auto device = cpu::open_device({});
  const auto compile = [&] { runtime::Executable e(device, g, catalog); };
  const double cold = bench::median_seconds(3, [&] {
    std::filesystem::remove_all(folder);
    compile();
  });
  const double warm = bench::median_seconds(7, compile);
  bench::row("compile " + std::to_string(g.node_count()) + " operators, cold", cold, 0.5, "s", 0.5 / cold, 1);
  bench::row("the same from the disk cache", warm * 1e3, 20, "ms", 20 / (warm * 1e3), 1);

  Graph small("small");
  Builder b(small, catalog.operators);
  const Value x = b.input(f32({16}), "x");
  b.output(ops::add(x, x), "y");
  const runtime::Executable e(device, small, catalog);
  const HostValues in{HostTensor(DType::f32, {16})};
  HostValues out;
  const double call = bench::median_seconds(7,
                                            [&] {
                                              for (int i = 0; i < 1000; ++i) out = e.run(in, std::move(out));
                                            }) /
                      1000;
  bench::row("call of one small kernel", call * 1e6, 20, "us", 20 / (call * 1e6), 1);
  std::filesystem::remove_all(folder);
}
