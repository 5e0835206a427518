// What the benchmark programs share: timing, rows, a memory-bandwidth yardstick of the same run.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace rlx::bench {

/// Median wall-clock seconds of `repeats` calls after one warm-up call.
double median_seconds(int repeats, const std::function<void()>& f);
/// Two functions called in turn, so that a clock that moves moves both: the median of each.
struct Pair {
  double first, second;
};
Pair alternating_seconds(int repeats, const std::function<void()>& first, const std::function<void()>& second);
std::vector<double> alternating_seconds(int repeats, const std::vector<std::function<void()>>& functions);

/// One JSON line on standard output. `ratio` is ours over rival where larger is better, else rival over ours; `goal` is
/// what the project asks of it.
void row(const std::string& name, double ours, double rival, const std::string& unit, double ratio, double goal);

/// Bytes a second of a[i] = b[i] + s c[i] over three arrays of `bytes` each (24 bytes an element), on `threads`
/// threads. The arrays are host tensors: their pages are what the kernels' are.
double triad(std::size_t bytes, int threads, int repeats);

std::string processor();
int threads();  ///< RLX_THREADS, default 2.

}  // namespace rlx::bench
