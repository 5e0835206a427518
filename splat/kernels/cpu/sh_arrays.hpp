// Colours of spherical harmonics, some Gaussians at a time: what the kernels of each instruction level offer. As
// ssim_window.hpp, it includes nothing whose inline functions other files might come to share.
#pragma once
#include <cstdint>

namespace rlx::splat::cpu {

struct ShArrays {
  const float* directions;    ///< [views, n, 3]
  const float* coefficients;  ///< [n, stored, channels]
  std::int64_t views, n, stored, channels;
  int degree;
  float constant;  ///< The harmonic of order 0.
};

/// Of one instruction level; each works on the Gaussians begin .. end, which do not depend on what they are computed
/// with.
struct ShKernels {
  /// To colours [views, n, channels].
  void (*colours)(const ShArrays&, std::int64_t begin, std::int64_t end, float* colours);
  /// From the cotangent of the colours; sums over views are in their order.
  void (*gradient)(const ShArrays&, const float* cotangent, std::int64_t begin, std::int64_t end, float* to_directions,
                   float* to_coefficients);
};
extern const ShKernels sh_generic;
#if defined(__x86_64__)
extern const ShKernels sh_avx2, sh_avx512;
#endif

}  // namespace rlx::splat::cpu
