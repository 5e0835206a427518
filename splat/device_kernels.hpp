// What a folder kernels/<device>/ brings to the family: it defines `extern const DeviceKernels <device>_kernels`, and
// is built where its device is on.
#pragma once
#include <rlx/compile/target.hpp>

#include <span>
#include <string_view>

namespace rlx::splat {

struct DeviceKernels {
  std::string_view device;
  std::span<const KernelRecord> (*records)();
};

/// Of the devices that are on; the list is generated when the build is configured.
std::span<const DeviceKernels* const> device_kernels();

}  // namespace rlx::splat
