// Every operator by itself, on every device, on cases made from its samples (op_cases.hpp): the time of a call beside
// the least that its stated cost allows, the bytes of that cost beside the triad, its operations beside the
// multiply-add peak of this processor, all in turn in one run. Without --benchmark_filter a few of them on cpu;
// operators whose cost is stated by no number of their own have no row of operations.
#include "benchmarks/bench.hpp"
#include "benchmarks/fma_peak.hpp"
#include "benchmarks/op_cases.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>
#include <rlx/splat/register.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

using namespace rlx;

namespace {

/// One of each kind that runs within a second; what runs where nobody chooses.
constexpr std::string_view chosen[] = {"add",       "exp",    "softmax",    "reduce",  "associative_scan",
                                       "transpose", "gather", "sort",       "scatter", "dot_general",
                                       "conv",      "fft",    "linalg.spmv"};

/// The multiply-add peak in the precision of the case: f64 and c128, else f32.
bool is_double(const bench::OpCase& c) { return c.dtype == "f64" || c.dtype == "c128"; }

void measure(const runtime::Catalog& catalog, const std::string& device, const bench::OpCase& c,
             const std::string& name) {
  std::unique_ptr<runtime::Executable> e;
  try {
    e = std::make_unique<runtime::Executable>(runtime::open_device(device), c.graph, catalog);
  } catch (const CompileError& refused) {  // By contract: conformance counts these.
    std::cerr << name << ": refused: " << refused.what() << "\n";
    return;
  }
  const HostValues in = bench::operands_of(c);
  HostValues out;
  const auto once = [&] { out = e->run(in, std::move(out)); };
  once();
  const auto start = std::chrono::steady_clock::now();
  once();
  const double first = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // Long enough for a clock of microseconds, and not so long that a slow operator holds up all others.
  const int times = static_cast<int>(std::clamp(std::ceil(2e-3 / first), 1.0, 1000.0)), repeats = first > 0.5 ? 1 : 9;

  const int threads = bench::threads();
  bench::Triad triad(threads);
  const bench::FmaPeak peak(is_double(c), emit_llvm::host_machine(emit_llvm::best_host_isa()));
  std::vector<double> rates;
  const std::vector<double> t =
      bench::alternating_seconds(repeats, {[&] {
                                             for (int i = 0; i < times; ++i) once();
                                           },
                                           [&] { triad(); }, [&] { rates.push_back(peak.rate(1e8, threads)); }});
  const double seconds = t[0] / times, memory = triad.bytes() / t[1], arithmetic = 1e9 * bench::median(rates);
  const double least = std::max(c.bytes / memory, c.flops.value_or(0) / arithmetic);
  bench::row(name + ": time", 1e3 * seconds, 1e3 * least, "ms", least / seconds, 0);
  if (c.bytes > 0)
    bench::row(name + ": bytes", 1e-9 * c.bytes / seconds, 1e-9 * memory, "GB/s", c.bytes / seconds / memory, 0);
  if (c.flops.value_or(0) > 0)
    bench::row(name + ": operations", 1e-9 * *c.flops / seconds, 1e-9 * arithmetic, "GFLOP/s",
               *c.flops / seconds / arithmetic, 0);
}

bool user_chooses(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view a) {
    return a.starts_with("--benchmark_filter") || a.starts_with("--benchmark_list_tests");
  });
}

}  // namespace

int main(int argc, char** argv) {
  runtime::Catalog catalog = make_catalog();
  linalg::add_to(catalog);
  splat::add_to(catalog);
  const bool all = user_chooses(argc, argv);
  for (const Op* op : catalog.operators.all()) {
    if (op->has_trait(Trait::lir)) continue;
    if (!all && std::ranges::find(chosen, op->name()) == std::end(chosen)) continue;
    std::vector<bench::OpCase> cases = bench::cases_of(*op, catalog.operators);
    if (!all && !cases.empty()) {  // One of them: that which grew, in f32 before others.
      const auto worth = [](const bench::OpCase& c) {
        return std::tuple(c.growth, c.dtype == "f32", c.dtype == "f64");
      };
      std::ranges::iter_swap(cases.begin(), std::ranges::max_element(cases, {}, worth));
      cases.erase(cases.begin() + 1, cases.end());
    }
    for (bench::OpCase& made : cases) {
      const auto c = std::make_shared<const bench::OpCase>(std::move(made));
      for (const runtime::BackendEntry* b : runtime::backends()) {
        if (b->for_tests || (!all && b->name != "cpu") || !b->availability().available) continue;
        const std::string name = c->text() + " on " + std::string(b->name);
        bench::add(name, [&catalog, c, device = std::string(b->name), name] { measure(catalog, device, *c, name); });
      }
    }
  }
  return bench::run(argc, argv);
}
