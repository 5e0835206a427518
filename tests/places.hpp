// Where the tests find their files and the programs that they run. Defined apart, so that no test's compiler arguments
// name a folder: trees at different places share a compiler cache, and all areas one precompiled header.
#pragma once
#include <filesystem>
#include <string>

namespace rlx::places {

std::filesystem::path source();  ///< The source tree.
std::filesystem::path shared();  ///< $RLX_SHARED, or `shared` beside the source tree; absent where nobody put it there.
std::string splat_data(const std::string& name);  ///< A file of tests/data/splat.
std::string program();                            ///< rlx
std::string chromium();                           ///< Empty where it was not found.
bool debug_build();                               ///< Of the library: CMake's configuration is Debug.

}  // namespace rlx::places
