#include "benchmarks/bench.hpp"

#include "backends/cpu/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

namespace rlx::bench {

double seconds(const std::function<void()>& f) {
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
    for (std::size_t k = 0; k < functions.size(); ++k) times[k].push_back(seconds(functions[k]));
  std::vector<double> medians;
  for (std::vector<double>& t : times) medians.push_back(median(std::move(t)));
  return medians;
}

Triad::Triad(int thread_count) : threads_(thread_count) {
  constexpr std::int64_t n = 8 << 20;
  for (HostTensor* x : {&a_, &b_, &c_}) *x = HostTensor(DType::f64, {n});
  std::ranges::fill(b_.as_mutable<double>(), 1.0);
  std::ranges::fill(c_.as_mutable<double>(), 2.0);
}

void Triad::operator()() {
  double* const a = a_.as_mutable<double>().data();
  const double *b = b_.as<double>().data(), *c = c_.as<double>().data();
  const std::int64_t n = a_.numel();
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
}

double Triad::bytes() const { return 24.0 * static_cast<double>(a_.numel()); }

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

int threads() { return cpu::default_threads(); }

}  // namespace rlx::bench
