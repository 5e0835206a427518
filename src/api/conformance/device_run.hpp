// Runs instances on a device, all of an operator in one program: compilation is what costs.
#pragma once
#include "api/conformance/checks.hpp"

namespace rlx::conformance {

struct DeviceRun {
  Outcome outcome = Outcome::failed;
  HostValues out{};
  std::string reason{};
  std::string provider{};  ///< Of the node's row in the report.
};

/// One result an instance, in order. Those that dispatch refuses are taken out and the rest compiled again; where a
/// program fails otherwise it is halved until the instances at fault are alone.
std::vector<DeviceRun> run_on_device(std::span<const Instance* const> instances,
                                     const std::shared_ptr<runtime::Device>& device, const runtime::Catalog& catalog,
                                     const CompileOptions& options);

}  // namespace rlx::conformance
