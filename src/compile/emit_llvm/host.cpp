// The processor this runs on.
#include "compile/emit_llvm/emit_llvm.hpp"

#include <rlx/ir/error.hpp>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

namespace rlx::emit_llvm {

Isa best_host_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    return Isa::avx2;
#endif
  return Isa::generic;
}

Machine host_machine(Isa isa) {
  if (isa > best_host_isa())
    throw DeviceError(
        "emit_llvm", 0,
        "this processor has no " + std::string(name(isa)) + "; its level is " + std::string(name(best_host_isa())));
  auto take = [](char* text) {
    const std::string s = text;
    LLVMDisposeMessage(text);
    return s;
  };
  Machine m{.triple = take(LLVMGetDefaultTargetTriple()), .cpu = "generic", .features = "", .isa = isa};
#if defined(__x86_64__)
  // Lower levels are levels of the architecture, so that their code is the same on every processor. All that have AVX2
  // take prefetchw, if only as nothing; a prefetch to read makes the store that follows wait again.
  if (isa == Isa::generic) m.cpu = "x86-64";
  if (isa == Isa::avx2) m.cpu = "x86-64-v3", m.features = "+prfchw";
#endif
  if (isa == Isa::avx512) {
    m.cpu = take(LLVMGetHostCPUName());
    m.features = take(LLVMGetHostCPUFeatures());
    // AMD's gathers are microcode: eight doubles take some 20 cycles, in which little else begins. Its caches take
    // lines from a memory that is fast but far.
    if (m.cpu.starts_with("znver")) m.slow_gathers = true, m.bytes_ahead = 6144;
  }
#ifdef RLX_ADDRESS_SANITIZER
  m.sanitize_address = true;
#endif
  return m;
}

}  // namespace rlx::emit_llvm
