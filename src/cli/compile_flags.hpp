// --policy and its companions, for subcommands that compile.
#pragma once
#include <rlx/compile/compile.hpp>
#include <rlx/handle.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace rlx::cli {

struct CompileFlags {
  std::string device = default_device(), policy;
  std::vector<std::string> overrides;
  bool reproducible = false, exact_sizes = false, unchecked = false;

  /// Without `checks` there is no --unchecked: for commands where indices are never checked.
  void add_to(CLI::App& command, bool checks = true);
  /// The environment's policies, then these. Indices are checked unless --unchecked says otherwise.
  CompileOptions options() const;
};

}  // namespace rlx::cli
