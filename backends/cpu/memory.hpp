// Host memory for buffers.
#pragma once
#include <cstdint>

namespace rlx::cpu {

/// Aligned to 64 bytes, from 4 MiB on to huge pages, which are then asked for. Throws MemoryError when the machine, the
/// control group or RLX_MEMORY_LIMIT has no room.
void* allocate(std::int64_t bytes);
void release(void* memory) noexcept;

}  // namespace rlx::cpu
