// Entries of the lists of tiles: how many there may be at all.
#pragma once
#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace rlx::splat {

/// Ids and offsets of the lists are i32.
inline constexpr std::int64_t most_entries = std::numeric_limits<std::int32_t>::max();
inline constexpr std::uint64_t entry_bytes = sizeof(std::int32_t);

/// Throws MemoryError, which says how many they are, where i32 does not count the entries.
inline void require_counted(std::int64_t entries) {
  if (entries <= most_entries) return;
  throw MemoryError("lists of tiles with " + std::to_string(entries) + " entries, of which i32 counts " +
                        std::to_string(most_entries) + " at most,",
                    static_cast<std::uint64_t>(entries) * entry_bytes,
                    std::min(static_cast<std::uint64_t>(available_memory()), most_entries * entry_bytes));
}

}  // namespace rlx::splat
