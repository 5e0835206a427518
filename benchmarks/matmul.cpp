// Packed matrix products against this processor's multiply-add peak, measured alternately, and against OpenBLAS's best
// kernel. One JSON line a row: medians of the rates, and the median of the ratios of neighbours in time, so that a
// clock that moves moves both. One thread is timed by its processor time, which other processes disturb less; more by
// the wall clock. Run with RLX_THREADS (default 1); --quick leaves out 4096. OpenBLAS's choice of kernel is not
// restricted: the program starts itself again without OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE.
#include "backends/cpu/kernels/matmul.hpp"
#include "backends/cpu/jit.hpp"
#include "backends/cpu/kernels/matmul_microkernel.hpp"
#include "backends/cpu/memory.hpp"
#include "backends/cpu/thread_pool.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <cblas.h>
#include <unistd.h>

extern "C" char* openblas_get_corename();
extern "C" void openblas_set_num_threads(int);

namespace {

using namespace rlx;

double now(int threads) {
  timespec t{};
  ::clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double seconds(int threads, const std::function<void()>& f) {
  const double start = now(threads);
  f();
  return now(threads) - start;
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

/// Multiply-adds in registers, without memory: the rate that no product exceeds.
class Peak {
 public:
  Peak(DType t, const emit_llvm::Machine& machine) {
    const int bytes = machine.isa == emit_llvm::Isa::avx512 ? 64 : machine.isa == emit_llvm::Isa::avx2 ? 32 : 16;
    const bool f64 = t == DType::f64, pairs = t == DType::bf16;
    const int lanes = bytes / (f64 ? 8 : 4);
    const std::string v = "<" + std::to_string(lanes) + " x " + (f64 ? "double" : "float") + ">",
                      x = pairs ? "<" + std::to_string(2 * lanes) + " x bfloat>" : v;
    const std::string f =
        pairs ? "@llvm.x86.avx512bf16.dpbf16ps.512" : "@llvm.fma.v" + std::to_string(lanes) + (f64 ? "f64" : "f32");
    std::string s = "declare " + v + " " + f + "(" + v + ", " + x + ", " + x +
                    ")\ndefine void @peak(i64 %n, ptr %to) {\nentry:\n %x = load " + x +
                    ", ptr %to\n br label %loop\nloop:\n %k = phi i64 [ 0, %entry ], [ %k.next, %loop ]\n";
    for (int i = 0; i < chains; ++i)
      s += " %c" + std::to_string(i) + " = phi " + v + " [ zeroinitializer, %entry ], [ %d" + std::to_string(i) +
           ", %loop ]\n";
    for (int i = 0; i < chains; ++i) {
      const std::string n = std::to_string(i);
      s += " %d" + n + " = call " + v + " " + f +
           (pairs ? "(" + v + " %c" + n + ", " + x + " %x, " + x + " %x)\n"
                  : "(" + v + " %x, " + v + " %x, " + v + " %c" + n + ")\n");
    }
    s += " %k.next = add i64 %k, 1\n %more = icmp slt i64 %k.next, %n\n br i1 %more, label %loop, label %end\nend:\n";
    for (int i = 0; i < chains; ++i) {
      const std::string n = std::to_string(i);
      s += " %p" + n + " = getelementptr i8, ptr %to, i64 " + std::to_string(i * bytes) + "\n store " + v + " %d" + n +
           ", ptr %p" + n + "\n";
    }
    const std::string names[] = {"peak"};
    code_ = cpu::load(emit_llvm::assemble(s + " ret void\n}\n", machine), names);
    run_ = reinterpret_cast<void (*)(std::int64_t, void*)>(code_->function(0));
    flops_ = 2.0 * chains * lanes * (pairs ? 2 : 1);
  }
  /// GFLOP/s over about `flops` on each thread.
  double rate(double flops, int threads) const {
    struct Context {
      const Peak& p;
      std::int64_t n;
    } c{*this, std::max<std::int64_t>(1, static_cast<std::int64_t>(flops / flops_))};
    const double t = seconds(threads, [&] {
      cpu::parallel_for(
          threads, 1, threads,
          [](void* x, std::int64_t, std::int64_t) {
            alignas(64) float memory[chains * 16];
            std::fill(std::begin(memory), std::end(memory), 0.37f);  // zeros would draw less power and raise the clock
            const auto& a = *static_cast<const Context*>(x);
            a.p.run_(a.n, memory);
          },
          &c);
    });
    return static_cast<double>(c.n) * flops_ * threads / t * 1e-9;
  }

 private:
  static constexpr int chains = 12;
  std::unique_ptr<cpu::LoadedCode> code_;
  void (*run_)(std::int64_t, void*) = nullptr;
  double flops_ = 0;
};

struct Memory {
  explicit Memory(std::int64_t bytes) : at(cpu::allocate(bytes)) {}
  ~Memory() { cpu::release(at); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* at;
};

std::vector<std::int64_t> steps(std::int64_t n, std::int64_t stride) {
  std::vector<std::int64_t> o(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < o.size(); ++i) o[i] = static_cast<std::int64_t>(i) * stride;
  return o;
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void row(const std::string& name, const std::vector<double>& ours, const std::vector<double>& rival, const char* unit,
         double goal, const std::string& where) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / rival[i]);
  std::printf(
      "{\"name\": \"%s\", \"ours\": %.1f, \"rival\": %.1f, \"unit\": \"%s\", \"ratio\": %.3f, \"goal\": %.2f, "
      "\"processor\": \"%s\"}\n",
      name.c_str(), median(ours), median(rival), unit, median(ratios), goal, where.c_str());
  std::fflush(stdout);
}

void measure(DType in, DType out, std::int64_t n, int threads, const emit_llvm::Machine& machine, int rounds,
             const std::string& where) {
  const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  Memory a(byte_size(in, n * n)), b(byte_size(in, n * n)), c(byte_size(out, n * n)), d(byte_size(out, n * n));
  Memory work(cpu::matmul_workspace(machine, in, out, 1, n, n, n));
  for (std::int64_t i = 0; i < n * n; ++i) {
    const double x = static_cast<double>(i * 7919 % 1009) / 1009 - 0.5,
                 y = static_cast<double>(i * 104729 % 997) / 997 - 0.5;
    if (in == DType::f64) static_cast<double*>(a.at)[i] = x, static_cast<double*>(b.at)[i] = y;
    else if (in == DType::f32)
      static_cast<float*>(a.at)[i] = static_cast<float>(x), static_cast<float*>(b.at)[i] = static_cast<float>(y);
    else if (in == DType::i8)
      static_cast<std::int8_t*>(a.at)[i] = static_cast<std::int8_t>(i * 37),
      static_cast<std::int8_t*>(b.at)[i] = static_cast<std::int8_t>(i * 11);
    else
      static_cast<std::uint16_t*>(a.at)[i] = static_cast<std::uint16_t>(0x3f00 + i % 97),
      static_cast<std::uint16_t*>(b.at)[i] = static_cast<std::uint16_t>(0x3f00 + i % 89);
  }
  const cpu::MatmulProblem p{in, out, {0}, steps(n, n), steps(n, 1), {0}, steps(n, 1), steps(n, n)};
  const auto ours = [&] { cpu::matmul(machine, p, a.at, b.at, c.at, work.at, threads); };
  const auto blas = [&] {
    const int m = static_cast<int>(n);
    if (in == DType::f32)
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, static_cast<float*>(a.at), m,
                  static_cast<float*>(b.at), m, 0, static_cast<float*>(d.at), m);
    else
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, static_cast<double*>(a.at), m,
                  static_cast<double*>(b.at), m, 0, static_cast<double*>(d.at), m);
  };
  const bool has_blas = in == DType::f32 || in == DType::f64;
  const Peak peak(in == DType::bf16 && cpu::packed_kind(in, machine) == cpu::PackedKind::bf16_pairs ? in
                  : in == DType::f64                                                                ? in
                                                                                                    : DType::f32,
                  machine);
  ours();
  if (has_blas) blas();
  std::vector<double> mine, rate, rival;
  for (int i = 0; i < rounds; ++i) {
    rate.push_back(peak.rate(std::min(flops, 4e9) / threads, threads) * (in == DType::i8 ? 4 : 1));
    ours();  // so that what is timed finds the caches as its like left them
    mine.push_back(flops / seconds(threads, ours) * 1e-9);
    if (!has_blas) continue;
    blas();
    rival.push_back(flops / seconds(threads, blas) * 1e-9);
  }
  const std::string label = std::string(name(in)) + "_" + std::string(name(out)) + "_" + std::to_string(n) +
                            "_threads" + std::to_string(threads),
                    unit = in == DType::i8 ? "GOP/s" : "GFLOP/s";
  row("matmul_" + label + "_vs_peak", mine, rate, unit.c_str(), 0.85, where);
  if (has_blas)
    row("matmul_" + label + "_vs_openblas_" + openblas_get_corename(), mine, rival, unit.c_str(), 1.0, where);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("OPENBLAS_CORETYPE") || std::getenv("OPENBLAS_L2_SIZE")) {
    ::unsetenv("OPENBLAS_CORETYPE");
    ::unsetenv("OPENBLAS_L2_SIZE");
    ::execv("/proc/self/exe", argv);
  }
  try {
    const int threads = std::getenv("RLX_THREADS") ? rlx::cpu::default_threads() : 1;
    openblas_set_num_threads(threads);
    const rlx::emit_llvm::Machine machine = rlx::emit_llvm::host_machine(rlx::emit_llvm::best_host_isa());
    const std::string where = processor();
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    for (const std::int64_t n : {std::int64_t{1024}, std::int64_t{4096}}) {
      if (quick && n > 1024) break;
      const int rounds = n > 1024 ? 3 : 30;
      for (const DType t : {DType::f32, DType::f64}) measure(t, t, n, threads, machine, rounds, where);
    }
    measure(DType::bf16, DType::f32, 1024, threads, machine, 30, where);
    measure(DType::bf16, DType::bf16, 1024, threads, machine, 30, where);
    measure(DType::i8, DType::i32, 1024, threads, machine, 30, where);
  } catch (const rlx::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
