// A compiled program on a device: immutable, callable from several threads at once.
#pragma once
#include <rlx/compile/compile.hpp>
#include <rlx/ir/host_value.hpp>
#include <rlx/runtime/backend.hpp>
#include <rlx/runtime/catalog.hpp>

#include <memory>
#include <span>

namespace rlx::runtime {

class RLX_API Executable {
 public:
  /// Compiles `hir` (constant shapes) for the device; `catalog` must outlive the executable. Throws CompileError,
  /// VerifyError, DeviceError or MemoryError.
  Executable(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
             const CompileOptions& options = {});
  ~Executable();
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;

  /// Runs once. Arguments in the order of the graph's inputs, with exactly their types; results likewise. Throws
  /// ArgumentError (count, type, an index out of range in checked mode), MemoryError before anything runs,
  /// NumericalError or DeviceError; the executable survives all of them. Dense results are written into the tensors of
  /// `reuse` where one of the right type stands at their place, so that a loop that hands back the last results
  /// allocates nothing; without it every call takes fresh memory.
  HostValues run(std::span<const HostValue> arguments, HostValues reuse = {}) const;

  const DispatchReport& report() const;
  const Graph& lir() const;  ///< The planned program.
  /// Bytes of arena and outputs that one call needs besides its arguments.
  std::int64_t bytes_per_call() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlx::runtime
