// Builder functions of the splatting operators. n Gaussians, c cameras; the operands of a call have one dtype, f32 or
// f64, unless said otherwise. What does not fit is a VerifyError when the graph is built.
//
// Conventions. Quaternions are w, x, y, z of any length. Cameras look along +z with x to the right and y down; view
// matrices take world to camera. Pixel (i, j) covers [i, i + 1) x [j, j + 1) and is sampled at its centre.
#pragma once
#include <rlx/ir/builder.hpp>
#include <rlx/splat/attributes.hpp>

namespace rlx::splat {

/// quats [.., 4] and scales [.., 3] -> covariances R diag(scales^2) R^T [.., 3, 3].
RLX_API Value quat_scale_to_cov(Value quats, Value scales);
struct Covariances {
  Value covars, precisions;
};
/// The same and the inverses R diag(scales^-2) R^T, both [.., 3, 3].
RLX_API Covariances quat_scale_to_cov_and_precision(Value quats, Value scales);

/// What project gives for n Gaussians in c images. Of what is culled, all are 0.
struct Projected {
  Value radii;   ///< i32 [c, n, 2]: half the sides of the box around 3.33 standard deviations, pixels, rounded up.
  Value means;   ///< [c, n, 2] in the image, pixels.
  Value depths;  ///< [c, n]: z in the camera's frame.
  Value conics;  ///< [c, n, 3]: xx, xy and yy of the inverse of the blurred covariance, 1 / pixels squared.
  Value compensations;  ///< [c, n]: square root of the quotient of the determinants before and after the blur.
};
/// means [n, 3], covars [n, 3, 3] (the upper triangle is read), views [c, 4, 4], intrinsics [c, 3, 3] in pixels.
RLX_API Projected project(Value means, Value covars, Value views, Value intrinsics, const ProjectAttrs& attrs);

/// directions [.., n, 3] of any length from the camera to the Gaussians, coefficients [n, k, f] with k of at least
/// (degree + 1)^2 -> colours max(0, SH + 0.5) [.., n, f].
RLX_API Value sh_color(Value directions, Value coefficients, int degree);

/// [.., h, w, c], two images each -> [..]: mean structural similarity.
RLX_API Value ssim(Value x, Value y, SsimAttrs attrs = {});
/// points [n, 3] -> [n]: mean squared distance to the k nearest others.
RLX_API Value knn(Value points, std::int64_t k = 3);

/// Which tiles the box around each Gaussian meets, i32 [c, n, 4]: first column and row, numbers of columns and rows.
/// means [c, n, 2], conics [c, n, 3], opacities [c, n], radii i32 [c, n, 2].
RLX_API Value tile_boxes(Value means, Value conics, Value opacities, Value radii, const RasterizeAttrs& attrs);

/// Of the tiles of all images, row by row.
struct TileLists {
  Value ids;      ///< i32 [entries]: Gaussians counted through all images, nearest first.
  Value offsets;  ///< i32 [c * tiles + 1]: where the list of each tile begins.
};
/// boxes i32 [c, n, 4] of tile_boxes, depths [c, n]. `entries` is a new symbol of the graph, with a bound (-1: none is
/// known), or a number: then places beyond the count belong to no list, and a greater count is a NumericalError.
RLX_API TileLists tile_bin(Value boxes, Value depths, const RasterizeAttrs& attrs, Dim entries, Dim bound = -1);

struct Rasterized {
  Value image;          ///< [c, height, width, f]
  Value transmittance;  ///< [c, height, width]: 1 - alpha, without its rounding.
  Value used;           ///< i32 [c, height, width]: positions of the tile's list up to the last one that counts.
};
/// means [c, n, 2], conics [c, n, 3], opacities [c, n], features [c, n, f], backgrounds [c, f]; ids i32 [k] and offsets
/// i32 [c * tiles + 1] are the lists of the tiles, nearest Gaussian first. A probe, like means, adds nothing; its
/// cotangent is the sum over pixels of the magnitudes of the gradient of means.
RLX_API Rasterized rasterize(Value means, Value conics, Value opacities, Value features, Value backgrounds, Value ids,
                             Value offsets, const RasterizeAttrs& attrs, Value probe = {});

}  // namespace rlx::splat
