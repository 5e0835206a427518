// The kernels of one program: one text, one cl_program, because the compiler's start-up outweighs a kernel.
#pragma once
#include "compile/emit_source/emit.hpp"
#include "context.hpp"

#include <rlx/runtime/backend.hpp>

#include <mutex>

namespace rlx::oneapi {

/// The checks of one call: see check_record_bytes.
class CheckSlot final : public runtime::CheckRecord {
 public:
  CheckSlot(std::shared_ptr<Context> context, std::vector<lir::CheckAttrs> what);
  runtime::CheckReport take() override;
  cl_mem memory() const { return record_.get(); }

 private:
  void clear();
  std::shared_ptr<Context> context_;
  std::vector<lir::CheckAttrs> what_;  // What check number i + 1 says.
  OwnedMemory record_;
};

class Program final : public runtime::Module {
 public:
  /// Throws DeviceError with the compiler's log.
  Program(std::shared_ptr<Context> context, const Graph& lir);
  void launch(std::size_t index, std::span<const runtime::KernelBuffer> buffers,
              runtime::CheckRecord* checks) const override;
  std::unique_ptr<runtime::CheckRecord> check_record() const override;
  const void* code() const override { return code_.get(); }

 private:
  // The arguments of a cl_kernel are state of the object: setting them and enqueuing must not be interrupted.
  struct Kernel {
    OwnedKernel kernel;
    mutable std::mutex arguments;
  };
  std::shared_ptr<Context> context_;
  emit_source::EmittedProgram emitted_;
  std::shared_ptr<const OwnedProgram> code_;  // Null where there are no kernels.
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::unique_ptr<CheckSlot> unread_;  // For launches without a record: the kernels have the parameter all the same.
};

}  // namespace rlx::oneapi
