// Rows under Google Benchmark: a measurement is one of its benchmarks with an iteration a repetition, and the reporter
// prints the rows that the repetitions stated, medians of each figure.
#include "benchmarks/bench.hpp"

#include <rlx/ir/error.hpp>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>

namespace rlx::bench {

namespace {

/// A row, with its figures of every repetition.
struct Row {
  std::string name, unit;
  double goal;
  int threads;
  std::vector<double> ours, rival, ratio;
};
using Rows = std::vector<Row>;

/// Of each measurement by its name; the one that runs.
std::map<std::string, Rows> all_rows;
Rows* current = nullptr;

/// Six digits, so that lines can be read; what is no number becomes null.
nlohmann::ordered_json figure(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return std::isfinite(x) ? nlohmann::ordered_json::parse(text) : nlohmann::ordered_json();
}

void print(const Row& r) {
  std::cout << nlohmann::ordered_json{{"name", r.name},
                                      {"ours", figure(median(r.ours))},
                                      {"rival", figure(median(r.rival))},
                                      {"unit", r.unit},
                                      {"ratio", figure(median(r.ratio))},
                                      {"goal", figure(r.goal)},
                                      {"threads", r.threads},
                                      {"processor", processor()}}
                   .dump()
            << std::endl;
}

class RowReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& r : runs) {
      if (r.error_occurred) {
        std::cerr << r.run_name.function_name << ": " << r.error_message << "\n";
        failed = true;
      }
      // Once a measurement, whatever its repetitions and their aggregates.
      if (const auto rows = all_rows.extract(r.run_name.function_name)) std::ranges::for_each(rows.mapped(), print);
    }
  }
  bool failed = false;
};

}  // namespace

void row(const std::string& name, double ours, double rival, const std::string& unit, double ratio, double goal,
         int thread_count) {
  auto r = std::ranges::find(*current, name, &Row::name);
  if (r == current->end())
    r = current->insert(r, {name, unit, goal, thread_count ? thread_count : threads(), {}, {}, {}});
  r->ours.push_back(ours);
  r->rival.push_back(rival);
  r->ratio.push_back(ratio);
}

void add(const std::string& name, std::function<void()> measure) {
  benchmark::RegisterBenchmark(
      name.c_str(),
      [name, measure = std::move(measure)](benchmark::State& state) {
        current = &all_rows[name];
        for (auto _ : state) {
          const auto start = std::chrono::steady_clock::now();
          try {
            measure();
          } catch (const Error& e) {
            state.SkipWithError(e.what());
            break;
          }
          state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        for (const Row& r : *current) {  // for --benchmark_out
          state.counters[r.name + ": ours"] = r.ours.back();
          state.counters[r.name + ": rival"] = r.rival.back();
        }
      })
      ->Iterations(1)
      ->UseManualTime();
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  RowReporter reporter;
  const bool some = benchmark::RunSpecifiedBenchmarks(&reporter) > 0;
  return some && !reporter.failed ? 0 : 1;
}

}  // namespace rlx::bench
