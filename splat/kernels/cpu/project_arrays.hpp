// Gaussians in the images of cameras, some at a time: what the kernels of each instruction level offer. As
// ssim_window.hpp, it includes nothing whose inline functions other files might come to share.
#pragma once
#include <cstdint>

namespace rlx::splat::cpu {

struct ProjectCamera {
  float rotation[9], translation[3], fx, fy, cx, cy;
};
/// Entries of the gradient to a view matrix, its upper three rows.
inline constexpr int view_entries = 12;

struct ProjectArrays {
  const float* means;            ///< [n, 3]
  const float* covars;           ///< [n, 3, 3], of which the upper triangle is read
  const ProjectCamera* cameras;  ///< Those that see something.
  const std::int64_t* images;    ///< Which of the images each of them makes.
  std::int64_t views, n;
  bool orthographic;
  float width, height, near, far, clip, blur;
  float limit;  ///< No entry is larger.
};
/// Of all images, [c, n, ..]; what a camera culls is set to 0.
struct ProjectResults {
  std::int32_t* radii;
  float *means, *depths, *conics, *compensations;
};
struct ProjectCotangents {
  const float *means, *depths, *conics, *compensations;
};
struct ProjectGradients {
  float *means, *covars;
};

/// Of one instruction level; each works on the Gaussians begin .. end, which do not depend on what they are computed
/// with.
struct ProjectKernels {
  void (*forward)(const ProjectArrays&, std::int64_t begin, std::int64_t end, const ProjectResults&);
  /// Sums over cameras are in their order. views [a.views, 12] gets the
  /// sums over these Gaussians.
  void (*gradient)(const ProjectArrays&, const ProjectCotangents&, std::int64_t begin, std::int64_t end,
                   const ProjectGradients&, float* views);
};
extern const ProjectKernels project_generic;
#if defined(__x86_64__)
extern const ProjectKernels project_avx2, project_avx512;
#endif

}  // namespace rlx::splat::cpu
