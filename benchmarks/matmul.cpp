// Packed matrix products against this processor's multiply-add peak, measured alternately, and against OpenBLAS's best
// kernel; narrow types against f32. Medians of the rates, and the median of the ratios of neighbours in time, so that a
// clock that moves moves both. On one thread and on RLX_THREADS. RLX_ISA pins the level, also of the peak. OpenBLAS's
// kernel is that of the level: left alone it takes the oldest one on a processor that is newer than the library. For
// that the program starts itself again with OPENBLAS_CORETYPE, and without OPENBLAS_L2_SIZE.
#include "backends/cpu/kernels/matmul.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "benchmarks/bench.hpp"
#include "benchmarks/fma_peak.hpp"
#include "benchmarks/matmul_parts.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cblas.h>
#include <unistd.h>

extern "C" char* openblas_get_corename();
extern "C" void openblas_set_num_threads(int);

namespace {

using namespace rlx;
using bench::Memory, bench::steps;

std::string text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? text : "";
}

/// Rates of rounds, medians; the ratio is the median of the rounds' own.
void row(const std::string& name, const std::vector<double>& ours, const std::vector<double>& rival, const char* unit,
         double goal, int threads) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / rival[i]);
  bench::row(name, bench::median(ours), bench::median(rival), unit, bench::median(ratios), goal, threads);
}

/// Square matrices and what multiplies them.
class Square {
 public:
  Square(DType in, DType out, std::int64_t n, int threads, const emit_llvm::Machine& machine)
      : machine_(machine),
        n_(n),
        threads_(threads),
        problem_{in, out, {0}, steps(n, n), steps(n, 1), {0}, steps(n, 1), steps(n, n)},
        a_(byte_size(in, n * n)),
        b_(byte_size(in, n * n)),
        c_(byte_size(out, n * n)),
        work_(cpu::matmul_workspace(machine, in, out, 1, n, n, n, threads)) {
    for (std::int64_t i = 0; i < n * n; ++i) {
      const double x = static_cast<double>(i * 7919 % 1009) / 1009 - 0.5,
                   y = static_cast<double>(i * 104729 % 997) / 997 - 0.5;
      if (in == DType::f64) at<double>(a_, i) = x, at<double>(b_, i) = y;
      else if (in == DType::f32) at<float>(a_, i) = static_cast<float>(x), at<float>(b_, i) = static_cast<float>(y);
      else if (in == DType::i8)
        at<std::int8_t>(a_, i) = static_cast<std::int8_t>(i * 37),
                            at<std::int8_t>(b_, i) = static_cast<std::int8_t>(i * 11);
      else
        at<std::uint16_t>(a_, i) = static_cast<std::uint16_t>(0x3800 + i % 97),
                              at<std::uint16_t>(b_, i) = static_cast<std::uint16_t>(0x3800 + i % 89);
    }
  }
  void ours() { cpu::matmul(machine_, problem_, a_.at, b_.at, c_.at, work_.at, threads_); }
  void openblas() {
    const int m = static_cast<int>(n_);
    if (problem_.in == DType::f32)
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, &at<float>(a_, 0), m, &at<float>(b_, 0), m, 0,
                  &at<float>(c_, 0), m);
    else
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, &at<double>(a_, 0), m, &at<double>(b_, 0), m,
                  0, &at<double>(c_, 0), m);
  }
  /// GFLOP/s (GOP/s) of what was done just before, so that it finds the caches as its like left them.
  template <class F>
  double rate(F f) {
    f();
    return flops() / bench::seconds(threads_, f) * 1e-9;
  }
  double flops() const { return 2.0 * static_cast<double>(n_) * static_cast<double>(n_) * static_cast<double>(n_); }

 private:
  template <class T>
  static T& at(const Memory& m, std::int64_t i) {
    return static_cast<T*>(m.at)[i];
  }
  const emit_llvm::Machine& machine_;
  std::int64_t n_;
  int threads_;
  cpu::MatmulProblem problem_;
  Memory a_, b_, c_, work_;
};

std::string label(DType in, DType out, std::int64_t n, int threads) {
  std::string s = "matmul_" + std::string(name(in));
  if (in != out) s += "_" + std::string(name(out));
  return s + "_" + std::to_string(n) + "_threads" + std::to_string(threads);
}

constexpr double no_goal = 0;

struct Setting {
  const emit_llvm::Machine& machine;
  int threads, rounds;
};

/// f32 or f64 against the peak and OpenBLAS; the peak is taken before and after, since the clock moves. A second ratio
/// is to the first moments of the peak after the product: at the clock that the product's power leaves it.
void measure(DType t, std::int64_t n, double goal, const Setting& s) {
  Square p(t, t, n, s.threads, s.machine);
  const bench::FmaPeak peak(t == DType::f64, s.machine);
  const double about = std::min(p.flops(), 2e9) / s.threads;
  std::vector<double> mine, rate, rival, hot;
  double before = peak.rate(about, s.threads);
  for (int i = 0; i < s.rounds; ++i) {
    mine.push_back(p.rate([&] { p.ours(); }));
    hot.push_back(peak.rate_at_once(s.threads));
    const double after = peak.rate(about, s.threads);
    rate.push_back((before + after) / 2);
    rival.push_back(p.rate([&] { p.openblas(); }));
    before = peak.rate(about, s.threads);
  }
  row(label(t, t, n, s.threads) + "_vs_peak", mine, rate, "GFLOP/s", goal, s.threads);
  row(label(t, t, n, s.threads) + "_vs_peak_at_its_clock", mine, hot, "GFLOP/s", goal, s.threads);
  row(label(t, t, n, s.threads) + "_vs_openblas_" + openblas_get_corename(), mine, rival, "GFLOP/s", 1.0, s.threads);
}

/// Narrow operands against f32 of the same size.
void measure_narrow(DType in, DType out, std::int64_t n, double goal, const Setting& s) {
  Square narrow(in, out, n, s.threads, s.machine), wide(DType::f32, DType::f32, n, s.threads, s.machine);
  std::vector<double> mine, rival;
  for (int i = 0; i < s.rounds; ++i) {
    mine.push_back(narrow.rate([&] { narrow.ours(); }));
    rival.push_back(wide.rate([&] { wide.ours(); }));
  }
  row(label(in, out, n, s.threads) + "_vs_f32", mine, rival, in == DType::i8 ? "GOP/s" : "GFLOP/s", goal, s.threads);
}

/// Against the peak over times so long that each side has the clock that its power allows; and in turn with it in
/// slices of some 25 us, too short for the clock to move, which leaves what instructions cost. Then how far the peak
/// itself falls in these.
void measure_microkernel(DType t, int level, double goal, const Setting& s) {
  const bench::MicrokernelAlone alone(t, level, s.machine, s.threads);
  const bench::FmaPeak peak(t == DType::f64, s.machine);
  constexpr double slow = 1e9;
  std::vector<double> mine, rate, sliced, sliced_peak;
  alone.rate(slow);
  for (int i = 0; i < s.rounds; ++i) {
    const double before = peak.rate(slow, s.threads);
    mine.push_back(alone.rate(slow));
    rate.push_back((before + peak.rate(slow, s.threads)) / 2);
  }
  for (int i = 0; i < 100 * s.rounds; ++i) {
    sliced.push_back(alone.rate(peak.slice()));
    sliced_peak.push_back(peak.rate(peak.slice(), s.threads));
  }
  const std::string type(name(t)), at = "_threads" + std::to_string(s.threads),
                                   bound = "matmul_" + type + "_bound" + at + "_microkernel_" + alone.shape() +
                                           "_alone_on_packed_operands_in_l" + std::to_string(level);
  row(bound + "_vs_peak", mine, rate, "GFLOP/s", goal, s.threads);
  row(bound + "_vs_peak_in_turn_every_25us", sliced, sliced_peak, "GFLOP/s", goal, s.threads);
  row("matmul_" + type + "_bound" + at + "_peak_in_turn_with_that_in_l" + std::to_string(level) + "_vs_peak_alone",
      {bench::median(sliced_peak)}, {bench::median(rate)}, "GFLOP/s", no_goal, s.threads);
}

/// A product of this size can be no faster than its packing and the microkernel's work one after the other, which is
/// how they are done, each shared by the threads. Beside the peak, and the product beside that.
void measure_parts(DType t, std::int64_t n, const Setting& s) {
  Square p(t, t, n, s.threads, s.machine);
  const bench::MicrokernelAlone kernel(t, 2, s.machine, s.threads);
  const bench::PackingAlone packing(t, n, s.machine, s.threads);
  const bench::FmaPeak peak(t == DType::f64, s.machine);
  const double about = std::min(p.flops(), 2e9) / s.threads;
  std::vector<double> whole, parts, rate;
  for (int i = 0; i < s.rounds; ++i) {
    rate.push_back(peak.rate(about, s.threads));
    whole.push_back(p.rate([&] { p.ours(); }));
    const double kernel_rate = kernel.rate(about);
    packing.seconds();
    parts.push_back(p.flops() / (p.flops() / kernel_rate + packing.seconds() * 1e9));
  }
  const std::string bound = "matmul_" + std::string(name(t)) + "_bound_threads" + std::to_string(s.threads) +
                            "_packing_" + std::to_string(n) + "_and_then_the_microkernel_in_l2";
  row(bound + "_vs_peak", parts, rate, "GFLOP/s", no_goal, s.threads);
  row(label(t, t, n, s.threads) + "_vs_its_packing_and_microkernel", whole, parts, "GFLOP/s", no_goal, s.threads);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string level = text_of("RLX_ISA");
  const rlx::emit_llvm::Isa isa = level.empty() ? rlx::emit_llvm::best_host_isa() : rlx::emit_llvm::parse_isa(level);
  const std::string core = isa == rlx::emit_llvm::Isa::avx512 ? "SkylakeX"
                           : isa == rlx::emit_llvm::Isa::avx2 ? "Haswell"
                                                              : "";
  if (text_of("OPENBLAS_CORETYPE") != core || std::getenv("OPENBLAS_L2_SIZE")) {
    if (core.empty()) ::unsetenv("OPENBLAS_CORETYPE");
    else ::setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
    ::unsetenv("OPENBLAS_L2_SIZE");
    ::execv("/proc/self/exe", argv);
  }
  const rlx::emit_llvm::Machine machine = rlx::emit_llvm::host_machine(isa);
  const int all = rlx::cpu::default_threads();
  // Where bf16 has instructions that are faster than f32's.
  const rlx::cpu::PackedKind kind = rlx::cpu::packed_kind(DType::bf16, machine);
  const double bf16_goal = kind == rlx::cpu::PackedKind::f32 ? 0.9 : 1.6;
  const std::vector<int> thread_counts = all > 1 ? std::vector{1, all} : std::vector{1};
  for (const int threads : thread_counts)
    for (const DType t : {DType::f32, DType::f64})
      rlx::bench::add("microkernel/" + std::string(rlx::name(t)) + "/threads:" + std::to_string(threads),
                      [=, &machine] {
                        for (const int cache : {1, 2}) measure_microkernel(t, cache, 0.95, {machine, threads, 30});
                      });
  for (const int threads : thread_counts)
    for (const std::int64_t n : {std::int64_t{1024}, std::int64_t{4096}}) {
      const Setting s{machine, threads, n > 1024 ? 3 : 20};
      const auto add = [=](const std::string& types, const std::function<void()>& measure) {
        rlx::bench::add(types + "/" + std::to_string(n) + "/threads:" + std::to_string(threads), [=] {
          openblas_set_num_threads(threads);
          measure();
        });
      };
      for (const DType t : {DType::f32, DType::f64})
        add(std::string(rlx::name(t)), [=] {
          measure(t, n, n > 1024 ? 0.9 : 0.85, s);
          measure_parts(t, n, s);
        });
      add("bf16_f32", [=] { measure_narrow(DType::bf16, DType::f32, n, bf16_goal, s); });
      if (n > 1024) continue;
      add("bf16", [=] { measure_narrow(DType::bf16, DType::bf16, n, bf16_goal, s); });
      add("f16", [=] { measure_narrow(DType::f16, DType::f16, n, 0.9, s); });
      add("i8_i32", [=] { measure_narrow(DType::i8, DType::i32, n, 2, s); });
    }
  return rlx::bench::run(argc, argv);
}
