#include "benchmarks/fma_peak.hpp"

#include "backends/cpu/thread_pool.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <sstream>
#include <string>

namespace rlx::bench {

double seconds(int threads, const std::function<void()>& f) {
  const auto now = [threads] {
    timespec t{};
    ::clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  f();
  return now() - start;
}

FmaPeak::FmaPeak(bool f64, const emit_llvm::Machine& machine) {
  const int bytes = machine.isa == emit_llvm::Isa::avx512 ? 64 : machine.isa == emit_llvm::Isa::avx2 ? 32 : 16;
  const int lanes = bytes / (f64 ? 8 : 4);
  std::ostringstream v, s;
  v << "<" << lanes << " x " << (f64 ? "double" : "float") << ">";
  const std::string t = v.str(), f = "@llvm.fma.v" + std::to_string(lanes) + (f64 ? "f64" : "f32");
  s << "declare " << t << " " << f << "(" << t << ", " << t << ", " << t << ")\ndefine void @peak(i64 %n, ptr %to) {\n"
    << "entry:\n %x = load " << t << ", ptr %to\n br label %loop\nloop:\n"
    << " %k = phi i64 [ 0, %entry ], [ %k.next, %loop ]\n";
  for (int i = 0; i < chains; ++i)
    s << " %c" << i << " = phi " << t << " [ zeroinitializer, %entry ], [ %d" << i << ", %loop ]\n";
  for (int i = 0; i < chains; ++i)
    s << " %d" << i << " = call " << t << " " << f << "(" << t << " %x, " << t << " %x, " << t << " %c" << i << ")\n";
  s << " %k.next = add i64 %k, 1\n %more = icmp slt i64 %k.next, %n\n br i1 %more, label %loop, label %end\nend:\n";
  for (int i = 0; i < chains; ++i)
    s << " %p" << i << " = getelementptr i8, ptr %to, i64 " << i * bytes << "\n store " << t << " %d" << i << ", ptr %p"
      << i << "\n";
  s << " ret void\n}\n";
  const std::string names[] = {"peak"};
  code_ = cpu::load(emit_llvm::assemble(s.str(), machine), names);
  run_ = reinterpret_cast<void (*)(std::int64_t, void*)>(code_->function(0));
  flops_ = 2.0 * chains * lanes;
}

double FmaPeak::rate(double flops, int threads) const {
  struct Context {
    const FmaPeak& p;
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

double FmaPeak::rate_at_once(int threads) const {
  return std::max({rate(slice(), threads), rate(slice(), threads), rate(slice(), threads)});
}

}  // namespace rlx::bench
