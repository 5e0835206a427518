// One tile of an image, forward and backward: what the kernels of each instruction level offer. They are compiled with
// that level's instructions, so they include nothing whose inline functions other files might come to share.
#pragma once
#include <cstdint>

namespace rlx::splat::cpu {

/// Operands of rasterize; shapes as there, f32. `gaussians` and `tiles` count those of all images.
struct RasterScene {
  const float *means, *conics, *opacities, *features, *backgrounds;
  const std::int32_t *ids, *offsets;
  std::int64_t gaussians, channels, entries;
  std::int64_t width, height, side, columns, rows;
};

struct RasterImages {
  float *image, *transmittance;
  std::int32_t* used;
};

/// What the gradient needs besides the scene.
struct RasterCotangents {
  const float* transmittance;
  const std::int32_t* used;
  const float *image, *through;
};

/// Where the gradients of the entries begin .. end of all lists go, a row each, [end - begin][8 + channels]: means,
/// conic, opacity, features, magnitudes for means.
struct RasterRows {
  float* rows;
  std::int64_t begin, end;
};

/// Of one instruction level.
struct RasterKernels {
  std::int64_t (*scratch_bytes)(std::int64_t side, std::int64_t channels);  ///< Of one tile, at 64 bytes.
  void (*forward)(const RasterScene&, const RasterImages&, std::int64_t tile, void* scratch);
  /// Of the tile's entries among the rows, up to the end that it returns: what is behind reaches no pixel. Where they
  /// are not all of the list, they come from its end to its front, call by call with one scratch memory, which keeps
  /// the pixels in between.
  std::int64_t (*backward)(const RasterScene&, const RasterCotangents&, const RasterRows&, std::int64_t tile,
                           void* scratch);
};
extern const RasterKernels raster_generic;
#if defined(__x86_64__)
extern const RasterKernels raster_avx2, raster_avx512;
#endif

}  // namespace rlx::splat::cpu
