// Which of the bodies that are compiled for several instruction levels runs: that of the level which programs for the
// device use.
#pragma once
#include "backends/cpu/vector_bits.hpp"

namespace rlx::splat::cpu {

template <class Kernels>
const Kernels& of_level(const Instance& i, const Kernels& generic, const Kernels& avx2, const Kernels& avx512) {
  const int bits = rlx::cpu::vector_bits(*i.target);
  return bits == 512 ? avx512 : bits == 256 ? avx2 : generic;
}

}  // namespace rlx::splat::cpu

/// Of the constants <name>_generic and, where there are such processors, <name>_avx2 and <name>_avx512.
#if defined(__x86_64__)
#define RLX_OF_LEVEL(name, instance) of_level(instance, name##_generic, name##_avx2, name##_avx512)
#else
#define RLX_OF_LEVEL(name, instance) name##_generic
#endif
