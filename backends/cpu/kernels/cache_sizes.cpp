#include "cache_sizes.hpp"

#include <unistd.h>

namespace rlx::cpu {

std::int64_t l2_bytes() {
  static const std::int64_t bytes = [] {
    long size = 0;
#if defined(_SC_LEVEL2_CACHE_SIZE)
    size = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return size > 0 ? static_cast<std::int64_t>(size) : std::int64_t{512} << 10;
  }();
  return bytes;
}

}  // namespace rlx::cpu
