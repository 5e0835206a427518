// What the calls of an executable came to.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rlx::runtime {

/// Programs that are kept of what has many: one a set of values of a graph's symbols, one a signature of a compiled
/// function.
inline constexpr std::size_t kept_programs = 256;

struct ExecutableStatistics {
  std::int64_t calls = 0;
  /// Most bytes held at once: constants, arenas and workspaces of all calls that ran together, results until they were
  /// handed over, copies of arguments where the device has memory of its own. 0 on a device that interprets.
  std::int64_t peak_bytes = 0;
  /// Bytes of results that stand in the memory of donated inputs, over all calls; of a program with size points also
  /// those of its parts.
  std::int64_t in_place_bytes = 0;
  /// Bytes of donated inputs that had to be copied before they were written over, since another value shared them.
  std::int64_t copied_bytes = 0;
  /// Plans that are kept: one for each set of values that symbols have had, and for each size that is read.
  std::int64_t programs = 1;
  /// Different compilations that these run, where the device tells.
  std::int64_t codes = 0;
};

}  // namespace rlx::runtime
