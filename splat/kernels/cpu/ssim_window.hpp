// Similarity of images row by row: what the kernels of each instruction level offer. They are compiled with that
// level's instructions, so they include nothing whose inline functions other files might come to share.
#pragma once
#include <cstdint>

namespace rlx::splat::cpu {

inline constexpr std::int64_t window_size = 11;

/// One pair of images [height, width, channels], with so many zeros on each side.
struct SsimImages {
  const float *x, *y;
  std::int64_t height, width, channels, zeros;
  std::int64_t rows, row_floats;  ///< Where the window fits.
  const float* weights;           ///< [11]
  float c1, c2;
};

/// Of one instruction level; each works on some rows, begin .. end. Rows do not depend on what they are computed with.
struct SsimKernels {
  std::int64_t (*scratch_bytes)(const SsimImages&);  ///< Of one thread, at 64 bytes.
  /// Sums over each of the rows where the window fits, to sums [rows].
  void (*similarity)(const SsimImages&, std::int64_t begin, std::int64_t end, float* sums, void* scratch);
  /// Of these rows, the derivatives by E[x y], E[x^2] and E[x] where each pixel counts `share`: fields
  /// [3][rows][row_floats].
  void (*derivatives)(const SsimImages&, float share, std::int64_t begin, std::int64_t end, float* fields,
                      void* scratch);
  /// Of rows of the image, the gradient to x: what the window takes of the fields.
  void (*gradient)(const SsimImages&, const float* fields, std::int64_t begin, std::int64_t end, float* out,
                   void* scratch);
};
extern const SsimKernels ssim_generic;
#if defined(__x86_64__)
extern const SsimKernels ssim_avx2, ssim_avx512;
#endif

}  // namespace rlx::splat::cpu
