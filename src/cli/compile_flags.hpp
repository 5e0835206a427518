// --device, --policy and their companions, for subcommands that compile.
#pragma once
#include <rlx/compile/compile.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace rlx::cli {

/// --device, "device that <does>"; without it `device` is default_device().
void add_device_option(CLI::App& command, std::string& device, const std::string& does);
/// For commands that give values: says on standard error of a device that does not compute that they are zeros. Throws
/// what runtime::open_device throws.
void warn_of_idle_device(const std::string& device);

struct CompileFlags {
  std::string device, policy;
  std::vector<std::string> overrides;
  bool reproducible = false, exact_sizes = false, unchecked = false, no_recognise = false;

  /// Without `checks` there is no --unchecked: for commands where indices are never checked.
  void add_to(CLI::App& command, bool checks = true);
  /// The environment's policies, then these. Indices are checked unless --unchecked says otherwise.
  CompileOptions options() const;
};

}  // namespace rlx::cli
