// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; SC 2011) in integer
// primitives.
#pragma once
#include <rlx/ops/build.hpp>

#include <array>

namespace rlx::ops {

/// Ten rounds on u32 counters of one shape; `key` are u32 scalars.
RLX_API std::array<Value, 4> philox(std::array<Value, 4> counter, std::array<Value, 2> key);
/// `count` words u32[count] of blocks counter, counter + 1, ... : word i is word i mod 4 of block counter + i / 4,
/// whose 128-bit counter has that number (modulo 2^64) in its low half and 0 above.
Value philox_words(Value key, Value counter, const Dim& count);

}  // namespace rlx::ops
