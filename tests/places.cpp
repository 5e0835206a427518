#include "places.hpp"

#include <cstdlib>

namespace rlx::places {

namespace fs = std::filesystem;

fs::path source() { return RLX_SOURCE_DIR; }

fs::path shared() {
  const char* given = std::getenv("RLX_SHARED");
  return given ? fs::path(given) : source() / ".." / "shared";
}

std::string splat_data(const std::string& name) { return source() / "tests" / "data" / "splat" / name; }

std::string program() { return RLX_PROGRAM; }

std::string chromium() { return RLX_CHROMIUM; }

bool debug_build() { return RLX_DEBUG_BUILD; }

}  // namespace rlx::places
