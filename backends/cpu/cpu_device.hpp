// The host as a device. Options are for tests and tools; programs get the device of the environment's settings.
#pragma once
#include "compile/emit_llvm/emit_llvm.hpp"
#include "runtime/disk_cache.hpp"

#include <rlx/runtime/backend.hpp>

#include <memory>
#include <optional>

namespace rlx::cpu {

struct Options {
  std::optional<emit_llvm::Isa> isa{};                 ///< Absent: RLX_ISA, else the processor's highest.
  int threads = 0;                                     ///< 0: RLX_THREADS, else OpenMP's.
  std::optional<runtime::DiskCache::Options> cache{};  ///< Absent: from the environment.
  std::optional<bool> slow_gathers{};                  ///< Absent: as the processor has them (emit_llvm::Machine).
};

class CpuDevice : public runtime::Device {
 public:
  virtual const emit_llvm::Machine& machine() const = 0;
  virtual runtime::DiskCache& cache() = 0;
};

/// Throws ArgumentError for a wrong setting and DeviceError for a level that the processor lacks.
std::shared_ptr<CpuDevice> open_device(Options options = {});

}  // namespace rlx::cpu
