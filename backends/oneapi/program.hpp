// The kernels of one program: one text, one cl_program, because the compiler's start-up outweighs a kernel.
#pragma once
#include "compile/emit_source/emit.hpp"
#include "context.hpp"

#include <rlx/runtime/backend.hpp>

#include <atomic>
#include <mutex>

namespace rlx::oneapi {

/// Record of the checks of one program: see check_record_bytes.
struct CheckSlot {
  std::shared_ptr<Context> context;
  OwnedMemory record;
  std::vector<std::string> what;
  std::atomic<bool> launched{false};  ///< A checked kernel was enqueued since the record was last read.
};

class Program final : public runtime::Module {
 public:
  /// Throws DeviceError with the compiler's log.
  Program(std::shared_ptr<Context> context, const Graph& lir);
  void launch(std::size_t index, std::span<const runtime::KernelBuffer> buffers) const override;
  /// Null where no kernel checks anything.
  const std::shared_ptr<CheckSlot>& checks() const { return checks_; }

 private:
  // The arguments of a cl_kernel are state of the object: setting them and enqueuing must not be interrupted.
  struct Kernel {
    OwnedKernel kernel;
    mutable std::mutex arguments;
  };
  void build(const std::string& text);

  std::shared_ptr<Context> context_;
  emit_source::EmittedProgram emitted_;
  OwnedProgram program_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::shared_ptr<CheckSlot> checks_;
};

}  // namespace rlx::oneapi
