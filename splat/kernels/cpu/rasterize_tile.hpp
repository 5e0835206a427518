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

/// What the gradient needs besides the scene; `rows` [entries][8 + channels] is written for the tile's entries: means,
/// conic, opacity, features, magnitudes for means.
struct RasterCotangents {
  const float* transmittance;
  const std::int32_t* used;
  const float *image, *through;
  float* rows;
};

/// Of one instruction level.
struct RasterKernels {
  std::int64_t (*scratch_bytes)(std::int64_t side, std::int64_t channels);  ///< Of one tile, at 64 bytes.
  void (*forward)(const RasterScene&, const RasterImages&, std::int64_t tile, void* scratch);
  void (*backward)(const RasterScene&, const RasterCotangents&, std::int64_t tile, void* scratch);
};
extern const RasterKernels raster_generic;
#if defined(__x86_64__)
extern const RasterKernels raster_avx2, raster_avx512;
#endif

}  // namespace rlx::splat::cpu
