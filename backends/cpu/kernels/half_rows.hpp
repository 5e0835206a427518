// Runs of f16 to f32 and back, with the processor's instructions where it has them: the same bits either way.
#pragma once
#include <cstdint>

namespace rlx::cpu {

/// Exact; infinities and NaNs stay what they are.
void widen_f16(const std::uint16_t* from, float* to, std::int64_t n);
/// To nearest, ties to even.
void round_f16(const float* from, std::uint16_t* to, std::int64_t n);

}  // namespace rlx::cpu
