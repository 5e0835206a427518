#include "suitesparse_loader.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <rlx/ir/error.hpp>

namespace rlx::linalg {

namespace fs = std::filesystem;

static constexpr const char* file_name = "librlx_suitesparse.so";

std::vector<std::string> suitesparse_candidates() {
  std::vector<std::string> files;
  const auto add = [&](const fs::path& folder) { files.push_back((folder / file_name).string()); };
  if (const char* paths = std::getenv("RLX_PLUGIN_PATH")) {
    const std::string text = paths;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(':', begin), text.size());
      if (end > begin) add(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  Dl_info home;
  if (dladdr(reinterpret_cast<const void*>(&suitesparse_candidates), &home) && home.dli_fname) {
    std::error_code ignored;
    const fs::path folder = fs::absolute(home.dli_fname, ignored).parent_path();
    add(folder);
    add(folder / "rlx");
    add((folder / ".." / "lib").lexically_normal());
  }
  files.emplace_back(file_name);
  return files;
}

SuitesparseStatus load_suitesparse(std::span<const std::string> candidates) {
  SuitesparseStatus status;
  for (const std::string& file : candidates) {
    // RTLD_LOCAL: its libraries' symbols must not answer for the caller's own copies of them.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* why = dlerror();
      status.looked_for.push_back(why ? why : file);
      continue;
    }
    auto* entry = reinterpret_cast<rlx_suitesparse_entry_fn*>(dlsym(handle, "rlx_suitesparse_entry"));
    const SuitesparseTable* table = entry ? entry() : nullptr;
    if (!table || table->abi_version != suitesparse_abi_version) {
      status.looked_for.push_back(file + (table ? ": is of interface " + std::to_string(table->abi_version) +
                                                      ", needed is " + std::to_string(suitesparse_abi_version)
                                                : std::string(": has no rlx_suitesparse_entry")));
      dlclose(handle);
      continue;
    }
    // Never closed: factors made by it may outlive any other object.
    status.table = table;
    status.path = file;
    status.versions = table->versions;
    status.looked_for.push_back(file + ": loaded");
    break;
  }
  return status;
}

std::string SuitesparseStatus::text() const {
  if (table) return "librlx_suitesparse: " + versions + " (" + path + ")";
  std::string line = "librlx_suitesparse is not there; looked for";
  for (const std::string& file : looked_for) line += "\n  " + file;
  return line;
}

const SuitesparseStatus& suitesparse_status() {
  static const SuitesparseStatus status = load_suitesparse(suitesparse_candidates());
  return status;
}

const SuitesparseTable& require_suitesparse(const std::string& op) {
  const SuitesparseStatus& status = suitesparse_status();
  if (!status.table) throw DeviceError("dlopen", 0, op + " needs " + status.text());
  return *status.table;
}

}  // namespace rlx::linalg
