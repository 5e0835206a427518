// A compiled program on a device: immutable, callable from several threads at once.
#pragma once
#include <rlx/compile/compile.hpp>
#include <rlx/ir/host_value.hpp>
#include <rlx/runtime/backend.hpp>
#include <rlx/runtime/catalog.hpp>
#include <rlx/runtime/statistics.hpp>

#include <memory>
#include <span>

namespace rlx::runtime {

class RLX_API Executable {
 public:
  /// Compiles `hir` for the device; `catalog` must outlive the executable. A graph whose inputs have symbols in their
  /// shapes is one program for all their values: each set of values gets a plan when it first comes by (some
  /// milliseconds, those of the last 256 are kept), and plans share the code of kernels wherever sizes are no part of
  /// it. Throws CompileError, VerifyError, DeviceError or MemoryError, ArgumentError for a symbol that no input tells.
  Executable(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
             const CompileOptions& options = {});
  ~Executable();
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;

  /// Runs once. Arguments in the order of the graph's inputs, with exactly their types; results likewise. Throws
  /// ArgumentError (count, type, an index out of range in checked mode), MemoryError before anything runs,
  /// NumericalError or DeviceError; the executable survives all of them. With CompileOptions::check_numerics a
  /// NonFiniteError names the first step that stores a NaN, or an infinity, although nothing that it reads holds one
  /// (infinities that the program's text or an argument holds are meant), or an argument that holds NaN. Dense results
  /// are written into the tensors of `reuse` where one of the right type stands at their place, so that a loop that
  /// hands back the last results allocates nothing; without it every call takes fresh memory.
  HostValues run(std::span<const HostValue> arguments, HostValues reuse = {}) const;
  /// The same, and takes the arguments that CompileOptions::donated names: they are tokens afterwards, and results
  /// stand in their memory where DispatchReport::donations says so. What another value shares is copied first, and so
  /// is every donated argument of run(). What throws before a step has run leaves the arguments whole; a call that
  /// fails later has used them up, and its Error::object_survives() is false. Throws ArgumentError besides where two
  /// donated arguments are the same memory, or one is a view of another's.
  HostValues run_donating(std::span<HostValue> arguments, HostValues reuse = {}) const;

  const DispatchReport& report() const;
  const Graph& lir() const;  ///< The planned program.
  /// Bytes of arena and outputs that one call needs besides its arguments.
  std::int64_t bytes_per_call() const;
  ExecutableStatistics statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlx::runtime
