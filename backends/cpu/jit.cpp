#include "jit.hpp"

#include "compile/emit_llvm/emit_llvm.hpp"

#include <rlx/ir/error.hpp>

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include <mutex>
#include <string_view>

namespace rlx::cpu {
namespace {

void throw_if(const char* what, LLVMErrorRef error) {
  if (!error) return;
  char* message = LLVMGetErrorMessage(error);
  const std::string text = std::string(what) + ": " + message;
  LLVMDisposeErrorMessage(message);
  throw DeviceError("LLJIT", 0, text);
}

/// One a process. Each program has a dylib of its own, so that kernels of different programs may share names; LLVM
/// cannot remove one, so those that are free wait for the next program.
class Jit {
 public:
  static Jit& instance() {
    static Jit* jit = new Jit;  // never destroyed: programs may outlive static objects
    return *jit;
  }

  LLVMOrcJITDylibRef take_dylib() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const LLVMOrcJITDylibRef d = free_.back();
      free_.pop_back();
      return d;
    }
    const std::string name = "rlx." + std::to_string(made_++);
    const LLVMOrcJITDylibRef d = LLVMOrcExecutionSessionCreateBareJITDylib(session(), name.c_str());
    find_sanitizer(d);
    return d;
  }
  void give_back(LLVMOrcJITDylibRef d) noexcept {
    if (LLVMErrorRef error = LLVMOrcJITDylibClear(d)) {
      LLVMConsumeError(error);  // the code stays, which is a leak and no failure
      return;
    }
    const std::lock_guard lock(mutex_);
    free_.push_back(d);
  }

  void define_imports(LLVMOrcJITDylibRef d) {
    std::vector<LLVMOrcCSymbolMapPair> pairs;
    for (const emit_llvm::Import& i : emit_llvm::host_imports())
      pairs.push_back({LLVMOrcLLJITMangleAndIntern(jit_, i.name),
                       {reinterpret_cast<LLVMOrcExecutorAddress>(i.address),
                        {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0}}});
    throw_if("imports", LLVMOrcJITDylibDefine(d, LLVMOrcAbsoluteSymbols(pairs.data(), pairs.size())));
  }

  void add(LLVMOrcJITDylibRef d, std::span<const std::byte> object) {
    const LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(reinterpret_cast<const char*>(object.data()), object.size(), "rlx.o");
    throw_if("object", LLVMOrcLLJITAddObjectFile(jit_, d, buffer));
  }

  std::vector<void*> find(LLVMOrcJITDylibRef d, std::span<const std::string> names) {
    std::vector<LLVMOrcCLookupSetElement> wanted;
    for (const std::string& n : names)
      wanted.push_back({LLVMOrcLLJITMangleAndIntern(jit_, n.c_str()), LLVMOrcSymbolLookupFlagsRequiredSymbol});
    LLVMOrcCJITDylibSearchOrderElement order{d, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
    struct Found {
      LLVMErrorRef error = nullptr;
      std::vector<std::pair<std::string, void*>> symbols{};
    } found;
    // No threads were given to the session, so the answer has come when the call returns.
    LLVMOrcExecutionSessionLookup(
        session(), LLVMOrcLookupKindStatic, &order, 1, wanted.data(), wanted.size(),
        [](LLVMErrorRef error, LLVMOrcCSymbolMapPairs pairs, std::size_t count, void* context) {
          auto& f = *static_cast<Found*>(context);
          f.error = error;
          for (std::size_t i = 0; i < count; ++i)
            f.symbols.emplace_back(LLVMOrcSymbolStringPoolEntryStr(pairs[i].Name),
                                   reinterpret_cast<void*>(pairs[i].Sym.Address));
        },
        &found);
    throw_if("link", found.error);
    std::vector<void*> addresses;
    for (const std::string& n : names) {
      void* address = nullptr;
      for (const auto& [symbol, at] : found.symbols)
        if (symbol == n) address = at;
      if (!address) throw DeviceError("LLJIT", 0, "no symbol " + n);
      addresses.push_back(address);
    }
    return addresses;
  }

 private:
  /// Sanitized code calls the runtime that this process is linked with; nothing else of the process is visible to it.
  void find_sanitizer([[maybe_unused]] LLVMOrcJITDylibRef d) {
#ifdef RLX_ADDRESS_SANITIZER
    LLVMOrcDefinitionGeneratorRef generator = nullptr;
    throw_if("sanitizer", LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                              &generator, LLVMOrcLLJITGetGlobalPrefix(jit_),
                              [](void*, LLVMOrcSymbolStringPoolEntryRef symbol) {
                                return static_cast<int>(
                                    std::string_view(LLVMOrcSymbolStringPoolEntryStr(symbol)).starts_with("__asan_"));
                              },
                              nullptr));
    LLVMOrcJITDylibAddGenerator(d, generator);
#endif
  }

  Jit() {
    emit_llvm::initialise_llvm();
    throw_if("LLJIT", LLVMOrcCreateLLJIT(&jit_, nullptr));
  }
  LLVMOrcExecutionSessionRef session() const { return LLVMOrcLLJITGetExecutionSession(jit_); }
  LLVMOrcLLJITRef jit_ = nullptr;
  std::mutex mutex_;
  std::vector<LLVMOrcJITDylibRef> free_;
  int made_ = 0;
};

class JitCode final : public LoadedCode {
 public:
  JitCode(std::span<const std::byte> object, std::span<const std::string> names)
      : dylib_(Jit::instance().take_dylib()) {
    try {
      Jit& jit = Jit::instance();
      jit.define_imports(dylib_);
      jit.add(dylib_, object);
      functions_ = jit.find(dylib_, names);
    } catch (...) {
      Jit::instance().give_back(dylib_);
      throw;
    }
  }
  ~JitCode() override { Jit::instance().give_back(dylib_); }
  void* function(std::size_t i) const override { return functions_.at(i); }

 private:
  LLVMOrcJITDylibRef dylib_;
  std::vector<void*> functions_;
};

}  // namespace

std::unique_ptr<LoadedCode> load(std::span<const std::byte> object, std::span<const std::string> names) {
  return std::make_unique<JitCode>(object, names);
}

}  // namespace rlx::cpu
