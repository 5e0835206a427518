// What memory this process may still take: asked before anything large is allocated, because the system hands out what
// it does not have and kills later.
#pragma once
#include <rlx/ir/export.hpp>

#include <cstdint>
#include <string_view>

namespace rlx {

/// Bytes that this process may still take, never negative: the least of what the machine has available, of the room in
/// the process's control groups (both versions, all ancestors; page cache that can be dropped counts as room), of its
/// address space (ulimit -v), and of RLX_MEMORY_LIMIT (bytes, or a number with the suffix K, M or G) less the memory
/// that the process holds now, mapped files apart. Throws ArgumentError where that variable is no such number.
RLX_API std::int64_t available_memory();

/// Bytes below which require_memory() returns at once: small requests are not worth asking the system.
inline constexpr std::int64_t worth_asking = 4 << 20;
/// Throws MemoryError naming `what` where `bytes` are not to be had.
RLX_API void require_memory(std::string_view what, std::uint64_t bytes);

}  // namespace rlx
