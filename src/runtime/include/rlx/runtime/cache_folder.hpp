// Where compiled code is kept.
#pragma once
#include <rlx/ir/export.hpp>

#include <filesystem>
#include <string>

namespace rlx::runtime {

/// Of the last entry that this process could not write to a cache: which folder, and why. Empty where all were written.
/// The work is done all the same, and compiled again the next time.
RLX_API std::string cache_failure();

/// RLX_CACHE_DIR ("" or "off": no cache), else $XDG_CACHE_HOME/rlx, else ~/.cache/rlx. Empty: no cache.
RLX_API std::filesystem::path cache_folder_from_environment();

/// Why no code can be kept in `folder`; empty where it can, and where there is no cache. It is tried: a file is written
/// and removed, and so are folders that are not there.
RLX_API std::string cache_folder_problem(const std::filesystem::path& folder);

}  // namespace rlx::runtime
