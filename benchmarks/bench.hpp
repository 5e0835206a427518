// What the benchmark programs share: measurements under Google Benchmark, timing of two sides in turn, rows, a
// memory-bandwidth yardstick of the same run.
#pragma once
#include <rlx/ir/host_tensor.hpp>

#include <functional>
#include <string>
#include <vector>

namespace rlx::bench {

/// Registers a measurement: `measure` runs both sides in turn and states what it found by `row`. With
/// --benchmark_repetitions=N it runs N times, and a row holds the medians. An rlx::Error in it fails the measurement
/// under its name, and the program in the end.
void add(const std::string& name, std::function<void()> measure);
/// The end of every `main`: the measurements that were added, in their order, under the options of Google Benchmark
/// (--benchmark_filter=REGEX, --benchmark_list_tests, --benchmark_out=FILE). Returns the program's exit status: 1 where
/// a measurement failed, 2 for an argument that nobody knows.
int run(int argc, char** argv);

double median(std::vector<double> v);
/// Wall-clock seconds of one call.
double seconds(const std::function<void()>& f);
/// Median wall-clock seconds of `repeats` calls after one warm-up call.
double median_seconds(int repeats, const std::function<void()>& f);
/// Two functions called in turn, so that a clock that moves moves both: the median of each.
struct Pair {
  double first, second;
};
Pair alternating_seconds(int repeats, const std::function<void()>& first, const std::function<void()>& second);
std::vector<double> alternating_seconds(int repeats, const std::vector<std::function<void()>>& functions);

/// A row of the measurement that runs, one JSON line on standard output at its end. `ratio` is ours over rival where
/// larger is better, else rival over ours; `goal` is what the project asks of it, 0 where it asks nothing. A figure
/// that is no number is printed as null. `thread_count` is that of both sides, 0 for threads().
void row(const std::string& name, double ours, double rival, const std::string& unit, double ratio, double goal,
         int thread_count = 0);

/// The yardstick of memory: a[i] = b[i] + s c[i] over three arrays of 64 MiB. They are host tensors: their pages
/// are what the kernels' are. To be called in turn with what it measures, since neighbours on a machine share its
/// memory.
class Triad {
 public:
  explicit Triad(int thread_count);
  void operator()();
  double bytes() const;  ///< That a call moves: 24 an element.

 private:
  int threads_;
  HostTensor a_, b_, c_;
};

std::string processor();
int threads();  ///< RLX_THREADS; without it, as many as OpenMP takes. Throws ArgumentError, as the library does.

}  // namespace rlx::bench
