// What a folder kernels/<device>/ brings to the family: it defines `extern const DeviceKernels <device>_kernels`, and
// is built where its device is on.
#pragma once
#include <rlx/compile/target.hpp>
#include <rlx/linalg/linalg.hpp>

#include <span>
#include <string_view>

namespace rlx::linalg {

struct DeviceKernels {
  std::string_view device;
  std::span<const KernelRecord> (*records)();
  Plugin (*direct_solvers)() = nullptr;  ///< The library that its sparse direct operators load; null: it has none.
};

/// Of the devices that are on; the list is generated when the build is configured.
std::span<const DeviceKernels* const> device_kernels();

}  // namespace rlx::linalg
