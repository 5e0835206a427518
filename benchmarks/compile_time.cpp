// Time to compile a graph of 50 operators, without and with the disk cache, to check its program, to plan it for
// another batch size, to call a cached executable of one small kernel, and to scan: a step of a long scan costs what a
// step of a short one does. The limits are absolute, so the rival's column holds them.
#include "benchmarks/bench.hpp"

#include "backends/cpu/cpu_device.hpp"
#include "compile/lir/verify_program.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ir/verify.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/executable.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>

using namespace rlx;

namespace {

Graph fifty(const Registry& registry, Dim rows = 256) {
  Graph g("fifty");
  if (!rows.is_constant()) g.symbols.emplace("n", SymbolInfo{1, 1 << 20, 1});
  Builder b(g, registry);
  Value x = b.input(f32({rows, 256}), "x");
  const Value w = b.input(f32({256, 256}), "w");
  for (int i = 0; i < 10; ++i) {
    x = ops::tanh(ops::matmul(x, w));
    x = ops::sub(x, ops::reduce_max(x, {1}, true));
  }
  b.output(x, "y");
  return g;
}

// A scan over rows of 1024 that stacks one row a step.
Graph scan(const Registry& registry, std::int64_t steps) {
  Graph g("scan");
  Builder b(g, registry);
  const Value x = b.input(f32({steps, 1024}), "x"), s = b.input(f32({1024}), "s");
  const Values out = ops::scan(std::array{s}, std::array{x}, {}, [](ValuesIn v) {
    const Value next = ops::add(v[0], v[1]);
    return Values{next, ops::mul(next, next)};
  });
  b.output(out[1], "y");
  return g;
}

/// Where the disk cache is while this program runs.
const std::string& cache_folder() {
  static const std::string folder =
      (std::filesystem::temp_directory_path() / ("rlx_bench_cache_" + std::to_string(::getpid()))).string();
  return folder;
}

void measure_compilation(const runtime::Catalog& catalog) {
  const Graph g = fifty(catalog.operators);
  const auto device = cpu::open_device({});
  const auto compile = [&] { runtime::Executable e(device, g, catalog); };
  const double cold = bench::median_seconds(3, [&] {
    std::filesystem::remove_all(cache_folder());
    compile();
  });
  const double warm = bench::median_seconds(7, compile);
  bench::row("compile " + std::to_string(g.node_count()) + " operators, cold", cold, 0.5, "s", 0.5 / cold, 1);
  bench::row("the same from the disk cache", warm * 1e3, 20, "ms", 20 / (warm * 1e3), 1);

  const Program p = compile_program(g, catalog.operators, device->target(), device->records());
  compile::StepSources sources;  // What lowering said of its steps is not kept.
  for (NodeId n = 0; static_cast<std::size_t>(n) < p.lir.node_count(); ++n) sources[n] = {};
  const double check = bench::median_seconds(7, [&] {
    verify(p.lir, Level::lir);
    compile::verify_program(p.lir, device->target(), sources, p.report, compile::MemoryPlan{p.arena_bytes});
  });
  bench::row("check of its program, three times a compilation", 3 * check * 1e3, cold * 1e3 / 20, "ms",
             cold / 20 / (3 * check), 1);
}

// What the first call at a batch size takes longer than the next one, beside the compilation that it does without.
void measure_sizes(const runtime::Catalog& catalog) {
  const auto device = cpu::open_device({});
  const runtime::Executable e(device, fifty(catalog.operators, Dim::symbol("n")), catalog);
  std::vector<double> plans, compilations;
  for (std::int64_t n = 600; n < 607; ++n) {
    const HostValues in{HostTensor(DType::f32, {n, 256}), HostTensor(DType::f32, {256, 256})};
    HostValues out;
    const auto call = [&] { out = e.run(in, std::move(out)); };
    const double first = bench::seconds(call);
    plans.push_back(std::max(0.0, first - bench::median_seconds(3, call)));
    std::filesystem::remove_all(cache_folder());
    const auto another = cpu::open_device({});  // Which has seen no code.
    compilations.push_back(bench::seconds([&] { runtime::Executable(another, fifty(catalog.operators, n), catalog); }));
  }
  const double plan = bench::median(plans), cold = bench::median(compilations);
  bench::row("another batch size of a graph with symbols", plan * 1e3, cold * 1e3, "ms", cold / plan, 10);
}

void measure_call(const runtime::Catalog& catalog) {
  const auto device = cpu::open_device({});
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
}

void measure_scan(const runtime::Catalog& catalog) {
  const auto device = cpu::open_device({});
  constexpr std::int64_t few = 512, many = 4096;
  const runtime::Executable brief(device, scan(catalog.operators, few), catalog),
      full(device, scan(catalog.operators, many), catalog);
  const HostTensor start(DType::f32, {1024});
  const HostValues in_brief{HostTensor(DType::f32, {few, 1024}), start},
      in_full{HostTensor(DType::f32, {many, 1024}), start};
  HostValues out_brief, out_full;
  const bench::Pair scans = bench::alternating_seconds(
      7, [&] { out_brief = brief.run(in_brief, std::move(out_brief)); },
      [&] { out_full = full.run(in_full, std::move(out_full)); });
  const double of_few = scans.first / few, of_many = scans.second / many;
  bench::row("a step of 4096 of a scan beside one of 512", of_many * 1e6, of_few * 1e6, "us", of_few / of_many, 0.5);
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("RLX_CACHE_DIR", cache_folder().c_str(), 1);
  const runtime::Catalog catalog = make_catalog();
  bench::add("compile", [&] { measure_compilation(catalog); });
  bench::add("sizes", [&] { measure_sizes(catalog); });
  bench::add("call", [&] { measure_call(catalog); });
  bench::add("scan", [&] { measure_scan(catalog); });
  const int status = bench::run(argc, argv);
  std::filesystem::remove_all(cache_folder());
  return status;
}
