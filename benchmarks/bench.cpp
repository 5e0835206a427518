#include "benchmarks/bench.hpp"

#include "backends/cpu/thread_pool.hpp"

#include <rlx/ir/host_tensor.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

namespace rlx::bench {

static double once(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

double median_seconds(int repeats, const std::function<void()>& f) {
  return alternating_seconds(repeats, f, [] {}).first;
}

Pair alternating_seconds(int repeats, const std::function<void()>& first, const std::function<void()>& second) {
  const std::vector<double> t = alternating_seconds(repeats, {first, second});
  return {t[0], t[1]};
}

std::vector<double> alternating_seconds(int repeats, const std::vector<std::function<void()>>& functions) {
  std::vector<std::vector<double>> times(functions.size());
  for (const auto& f : functions) f();
  for (int i = 0; i < repeats; ++i)
    for (std::size_t k = 0; k < functions.size(); ++k) times[k].push_back(once(functions[k]));
  std::vector<double> medians;
  for (std::vector<double>& t : times) medians.push_back(median(std::move(t)));
  return medians;
}

double triad(std::size_t bytes, int thread_count, int repeats) {
  const auto n = static_cast<std::ptrdiff_t>(bytes / sizeof(double));
  HostTensor x(DType::f64, {n}), y(DType::f64, {n}), z(DType::f64, {n});
  double *a = x.as_mutable<double>().data(), *b = y.as_mutable<double>().data(), *c = z.as_mutable<double>().data();
  std::fill(b, b + n, 1.0);
  std::fill(c, c + n, 2.0);
  const double t = median_seconds(repeats, [&] {
#pragma omp parallel for num_threads(thread_count) schedule(static)
    for (std::ptrdiff_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
  });
  return 24.0 * static_cast<double>(n) / t;
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

int threads() { return cpu::default_threads(); }

}  // namespace rlx::bench
