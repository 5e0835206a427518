// What kernels of families need to know of the processor.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::cpu {

/// Width of the vectors that programs for this target of the device use: 512 (AVX-512), 256 (AVX2), or 0 where code
/// uses none. RLX_ISA pins it. Throws InternalError for a target of another device.
RLX_API int vector_bits(const Target& t);

}  // namespace rlx::cpu
