// Modules of kernels: emission, optimisation, objects.
#include "compile/emit_llvm/kernel.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>

namespace rlx::emit_llvm {

std::string_view name(Isa isa) {
  static constexpr std::string_view names[] = {"generic", "avx2", "avx512"};
  return names[static_cast<std::size_t>(isa)];
}
Isa parse_isa(std::string_view text) {
  for (Isa i : {Isa::generic, Isa::avx2, Isa::avx512})
    if (text == name(i)) return i;
  if (text == "scalar") return Isa::generic;
  throw ArgumentError("unknown instruction level \"" + std::string(text) + "\": one of generic (scalar), avx2, avx512");
}

namespace {

template <auto dispose>
struct Disposer {
  template <class T>
  void operator()(T* p) const {
    dispose(p);
  }
};
using Context = std::unique_ptr<LLVMOpaqueContext, Disposer<LLVMContextDispose>>;
using ModulePtr = std::unique_ptr<LLVMOpaqueModule, Disposer<LLVMDisposeModule>>;
using TargetMachinePtr = std::unique_ptr<LLVMOpaqueTargetMachine, Disposer<LLVMDisposeTargetMachine>>;
using Message = std::unique_ptr<char, Disposer<LLVMDisposeMessage>>;

[[noreturn]] void fail(const char* what, char* message) {
  const Message owned(message);
  throw DeviceError("LLVM", 0, std::string(what) + ": " + (message ? message : "no message"));
}
void throw_if(const char* what, LLVMErrorRef error) {
  if (!error) return;
  char* message = LLVMGetErrorMessage(error);
  const std::string text = std::string(what) + ": " + message;
  LLVMDisposeErrorMessage(message);
  throw DeviceError("LLVM", 0, text);
}

TargetMachinePtr make_target_machine(const Machine& machine) {
  initialise_llvm();
  LLVMTargetRef target = nullptr;
  char* message = nullptr;
  if (LLVMGetTargetFromTriple(machine.triple.c_str(), &target, &message)) fail("target", message);
  return TargetMachinePtr(LLVMCreateTargetMachine(target, machine.triple.c_str(), machine.cpu.c_str(),
                                                  machine.features.c_str(), LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                                  LLVMCodeModelDefault));
}

void set_target(LLVMModuleRef m, LLVMTargetMachineRef tm, const Machine& machine) {
  LLVMSetTarget(m, machine.triple.c_str());
  const LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
  LLVMSetModuleDataLayout(m, layout);
  LLVMDisposeTargetData(layout);
}

ModulePtr emit_module(const ProgramPlan& plan, LLVMContextRef context, LLVMTargetMachineRef tm) {
  ModulePtr m(LLVMModuleCreateWithNameInContext(plan.lir().name.c_str(), context));
  set_target(m.get(), tm, plan.machine());
  Ir ir(context, m.get(), plan.machine().isa);
  for (const KernelPlan& k : plan.kernels()) {
    if (LLVMGetNamedFunction(m.get(), k.attrs->name.c_str()))
      throw InternalError("two kernels are named " + k.attrs->name);
    Kernel(ir, plan.lir(), k, plan.machine()).emit();
  }
  char* message = nullptr;
  if (LLVMVerifyModule(m.get(), LLVMReturnStatusAction, &message)) {
    const Message owned(message);
    throw InternalError("emit_llvm made an invalid module: " + std::string(message));
  }
  LLVMDisposeMessage(message);
  return m;
}

// Emission makes the code's shape (lanes, unrolling, fma); passes only clean up. The default pipelines cost several
// times as much and would vectorise and unroll again.
void optimise(LLVMModuleRef m, LLVMTargetMachineRef tm, const Machine& machine) {
  std::string passes =
      "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),early-cse,"
      "simplifycfg,adce)";
  if (machine.sanitize_address) {
    constexpr std::string_view attribute = "sanitize_address";
    const unsigned kind = LLVMGetEnumAttributeKindForName(attribute.data(), attribute.size());
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
      if (!LLVMIsDeclaration(f))
        LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                                LLVMCreateEnumAttribute(LLVMGetModuleContext(m), kind, 0));
    passes += ",asan";
  }
  const LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  const LLVMErrorRef error = LLVMRunPasses(m, passes.c_str(), tm, options);
  LLVMDisposePassBuilderOptions(options);
  throw_if("passes", error);
}

std::vector<std::byte> object_of(LLVMModuleRef m, LLVMTargetMachineRef tm) {
  LLVMMemoryBufferRef buffer = nullptr;
  char* message = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(tm, m, LLVMObjectFile, &message, &buffer)) fail("code generation", message);
  std::vector<std::byte> bytes(LLVMGetBufferSize(buffer));
  std::memcpy(bytes.data(), LLVMGetBufferStart(buffer), bytes.size());
  LLVMDisposeMemoryBuffer(buffer);
  return bytes;
}

}  // namespace

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
  });
}

std::vector<std::byte> emit_object(const ProgramPlan& plan) {
  const TargetMachinePtr tm = make_target_machine(plan.machine());
  const Context context(LLVMContextCreate());
  const ModulePtr m = emit_module(plan, context.get(), tm.get());
  optimise(m.get(), tm.get(), plan.machine());
  return object_of(m.get(), tm.get());
}

std::string emit_text(const Graph& lir, const Machine& machine, bool optimised) {
  const TargetMachinePtr tm = make_target_machine(machine);
  const Context context(LLVMContextCreate());
  const ModulePtr m = emit_module(ProgramPlan(lir, machine), context.get(), tm.get());
  if (optimised) optimise(m.get(), tm.get(), machine);
  const Message text(LLVMPrintModuleToString(m.get()));
  return text.get();
}

std::vector<std::byte> assemble(std::string_view ir_text, const Machine& machine) {
  const TargetMachinePtr tm = make_target_machine(machine);
  const Context context(LLVMContextCreate());
  // The reader takes the buffer over.
  const LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(ir_text.data(), ir_text.size(), "assemble");
  LLVMModuleRef raw = nullptr;
  char* message = nullptr;
  if (LLVMParseIRInContext(context.get(), buffer, &raw, &message)) fail("reading IR", message);
  const ModulePtr m(raw);
  set_target(m.get(), tm.get(), machine);
  return object_of(m.get(), tm.get());
}

std::vector<Import> host_imports() {
  auto f = [](auto* function) { return reinterpret_cast<void*>(function); };
  using F = float (*)(float);
  using D = double (*)(double);
  return {{"fma", f(static_cast<double (*)(double, double, double)>(std::fma))},
          {"fmaf", f(static_cast<float (*)(float, float, float)>(std::fma))},
          {"fmod", f(static_cast<double (*)(double, double)>(std::fmod))},
          {"fmodf", f(static_cast<float (*)(float, float)>(std::fmod))},
          {"floor", f(static_cast<D>(std::floor))},
          {"floorf", f(static_cast<F>(std::floor))},
          {"ceil", f(static_cast<D>(std::ceil))},
          {"ceilf", f(static_cast<F>(std::ceil))},
          {"trunc", f(static_cast<D>(std::trunc))},
          {"truncf", f(static_cast<F>(std::trunc))},
          {"nearbyint", f(static_cast<D>(std::nearbyint))},
          {"nearbyintf", f(static_cast<F>(std::nearbyint))},
          {"memcpy", f(static_cast<void* (*)(void*, const void*, std::size_t)>(std::memcpy))},
          {"memset", f(static_cast<void* (*)(void*, int, std::size_t)>(std::memset))}};
}

}  // namespace rlx::emit_llvm
