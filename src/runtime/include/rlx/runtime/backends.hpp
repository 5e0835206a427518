// The backends of this build.
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/runtime/backend.hpp>

#include <memory>
#include <span>
#include <string_view>

namespace rlx::runtime {

/// In the order of backends/CMakeLists.txt; generated.
RLX_API std::span<const BackendEntry* const> backends();

/// Opens a device by the name of its backend; opened once a process and shared. Throws ArgumentError for an unknown
/// name, with the known ones, and DeviceError for one that is not available, with what was looked for.
RLX_API std::shared_ptr<Device> open_device(std::string_view name);

}  // namespace rlx::runtime
