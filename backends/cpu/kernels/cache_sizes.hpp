// Caches of the processor this runs on. They may decide how work is cut, never the order of a sum: results are the same
// on every machine of a model, whatever its system reports.
#pragma once
#include <cstdint>

namespace rlx::cpu {

/// A core's second level in bytes; 512 KiB where the system does not say.
std::int64_t l2_bytes();

}  // namespace rlx::cpu
