// LLVM code for the kernels of a LIR program. No LLVM type appears here; the emitter uses only LLVM's C API.
//
// One function a kernel, `KernelFunction`: it runs the units [begin, end) of the kernel's parallel range. A unit is one
// position of all dimensions but the last, and one block of the last; results do not depend on how units are grouped.
// Where lanes go is decided a kernel: along the last dimension, or along the loops and reductions inside.
#pragma once
#include <rlx/compile/lir.hpp>
#include <rlx/ir/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::emit_llvm {

/// Levels of vector instructions. `generic` is what every processor of the triple has and uses no vectors.
enum class Isa : std::uint8_t { generic, avx2, avx512 };
std::string_view name(Isa isa);
/// Throws ArgumentError naming the known ones.
Isa parse_isa(std::string_view text);

/// What code is made for.
struct Machine {
  std::string triple, cpu, features;
  Isa isa = Isa::generic;
  /// Loads and stores are checked by LLVM's address pass; whoever links the code provides the sanitizer's runtime.
  bool sanitize_address = false;
  /// What was measured of the processor: whether a gather takes longer than loads of its lanes one by one, and how far
  /// ahead lines are asked for, which is some hundred cycles of a loop and still in the nearest cache.
  bool slow_gathers = false;
  std::int64_t bytes_ahead = 2048;
  int vector_bits() const { return isa == Isa::avx512 ? 512 : isa == Isa::avx2 ? 256 : 0; }
  /// Everything that changes the code, for cache keys; the level comes last.
  std::string description() const {
    return triple + " " + cpu + " " + features + (sanitize_address ? " asan" : "") +
           (slow_gathers ? " slow gathers" : "") + " ahead " + std::to_string(bytes_ahead) + " " +
           std::string(name(isa));
  }
};

/// The highest level of this processor, and code for it at a level: throws DeviceError for a level that it lacks. The
/// code is sanitized where this library is.
Isa best_host_isa();
Machine host_machine(Isa isa);

/// Receives refused indices of lir.check. `fail` may be called from several threads at once; `check` is a place in
/// KernelInfo::checks; `point` orders the refusals of one launch, the first being the one to report.
struct CheckState {
  void (*fail)(CheckState*, std::int64_t check, std::int64_t index, std::int64_t point) = nullptr;
};

/// `sizes`: KernelInfo::sizes of the program that is run.
using KernelFunction = void (*)(void* const* buffers, std::int64_t begin, std::int64_t end, CheckState* check,
                                const std::int64_t* sizes);

struct KernelInfo {
  std::string name;
  std::int64_t extent = 0;  ///< Units of the parallel range.
  std::int64_t grain = 1;   ///< Units worth a thread's while; independent of the number of threads.
  int lanes = 1;            ///< Of the last dimension; 1 where lanes go to inner loops or to nothing.
  std::int64_t rows = 0;  ///< Positions of all dimensions but the last, where the same number of units follows for each
                          ///< in order; else 0.
  std::int64_t last = 1;  ///< Extent of the last dimension.
  std::vector<std::int64_t> sizes{};      ///< What launches hand to the function: the numbers that are not in its code.
  std::vector<lir::CheckAttrs> checks{};  ///< What its checks say, which is not in its code either.
};

struct KernelPlan;  // plan.hpp

/// All that is decided about the kernels of a program before there is code for them. Decided once: the key of their
/// code, the code itself and what launches need are read from it.
class ProgramPlan {
 public:
  /// Cheap beside making code. `lir` outlives the plan. Throws DeviceError for what this emitter refuses.
  ProgramPlan(const Graph& lir, const Machine& machine);
  ~ProgramPlan();
  ProgramPlan(const ProgramPlan&) = delete;
  ProgramPlan& operator=(const ProgramPlan&) = delete;

  const Graph& lir() const { return lir_; }
  const Machine& machine() const { return machine_; }
  /// In the order of lir::kernels.
  const std::vector<KernelPlan>& kernels() const { return kernels_; }

 private:
  const Graph& lir_;
  const Machine machine_;
  std::vector<KernelPlan> kernels_;
};

/// What launches need to know of each kernel; stands on its own.
std::vector<KernelInfo> kernel_infos(const ProgramPlan& plan);
/// Everything that the kernels' code depends on, for cache keys: programs of one text run one object, each with the
/// sizes of its own plan. First extents are not in it, nor what lir.size gives, but how the code is fitted to them.
std::string kernel_text(const ProgramPlan& plan);
/// A relocatable object with one global symbol a kernel, its name. Throws DeviceError.
std::vector<std::byte> emit_object(const ProgramPlan& plan);
/// The LLVM IR of the kernels as text, before or after optimisation; for people.
std::string emit_text(const Graph& lir, const Machine& machine, bool optimised);
/// Assembles hand-written IR text (micro-kernels) without changing it but for register allocation and scheduling.
std::vector<std::byte> assemble(std::string_view ir_text, const Machine& machine);
/// Registers this processor's code generator with LLVM, once; whoever calls LLVM for the host calls this first.
void initialise_llvm();
/// Symbols that emitted code may call and whoever links it must provide.
struct Import {
  const char* name;
  void* address;
};
std::vector<Import> host_imports();

}  // namespace rlx::emit_llvm
