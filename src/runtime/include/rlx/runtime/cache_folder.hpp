// Where compiled code is kept.
#pragma once
#include <rlx/ir/export.hpp>

#include <filesystem>

namespace rlx::runtime {

/// RLX_CACHE_DIR ("" or "off": no cache), else $XDG_CACHE_HOME/rlx, else ~/.cache/rlx. Empty: no cache.
RLX_API std::filesystem::path cache_folder_from_environment();

}  // namespace rlx::runtime
