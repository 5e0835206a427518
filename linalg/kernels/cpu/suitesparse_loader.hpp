// Finds and loads librlx_suitesparse, the plug-in with the LGPL and GPL providers, once a process and only on first
// need.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "provider.hpp"

namespace rlx::linalg {

/// What came of the search, for `rlx doctor` and for the errors of operators that need the plug-in.
struct SuitesparseStatus {
  const SuitesparseTable* table = nullptr;  ///< null: not found
  std::string path;                         ///< of the loaded file
  std::string versions;
  std::vector<std::string> looked_for;  ///< every file tried, with the loader's reason where it failed
  std::string text() const;             ///< one line
};

/// Loads the plug-in on the first call; every later one gets the same answer.
const SuitesparseStatus& suitesparse_status();

/// The table, or DeviceError that names the plug-in and where it was looked for. `op` is the operator in need.
const SuitesparseTable& require_suitesparse(const std::string& op);

/// Where to look: the folders of RLX_PLUGIN_PATH (separated by colons), the folder of the library or program that holds
/// this code, its subfolder rlx and its neighbour lib, and last the bare name for the loader's own path.
std::vector<std::string> suitesparse_candidates();
/// Tries the candidates in order. Exposed for tests; programs use suitesparse_status().
SuitesparseStatus load_suitesparse(std::span<const std::string> candidates);

}  // namespace rlx::linalg
