// What a step lowers, as functions of tensors that are traced: the scene's activations, its picture, the loss.
#pragma once
#include <rlx/splat/train.hpp>
#include <rlx/tensor.hpp>

#include "splat/train/state.hpp"

namespace rlx::splat::train {

/// What one step looks at. Scalars and small vectors, f32 unless said otherwise.
struct Look {
  Tensor image;       ///< u8 [height, width, 3]
  Tensor view;        ///< [4, 4], world to camera
  Tensor intrinsics;  ///< [3, 3]
  Tensor background;  ///< [3]
  Tensor count;       ///< i32: Gaussians in use
  Tensor bands;       ///< i32: coefficients of harmonics in use, beside that of degree 0
};

struct Drawn {
  Tensor image;   ///< [height, width, 3]
  Tensor radii;   ///< i32 [capacity, 2], pixels; 0 for what is not seen
  Tensor wanted;  ///< i64: entries of the lists of tiles; the picture is whole where they have room for these.
};

/// [capacity], whether a row is in use.
Tensor in_use(const Tensor& count, std::int64_t capacity);
/// The opacities of rows in use, 0 of the others, whose gradients are 0.
Tensor opacity(const Tensor& logits, const Tensor& count);

/// The six groups of a scene from a camera. `probe` and `shift` as in rlx::splat::render, [1, capacity, 2]; undefined:
/// none. The options say to cut the lists.
Drawn draw(std::span<const Tensor> scene, const Look& look, const RenderOptions& options, const Tensor& probe = {},
           const Tensor& shift = {});

/// `view` after a small motion of its camera: a shift along the camera's axes and a rotation vector, [6].
Tensor moved(const Tensor& view, const Tensor& motion);
/// Colours c + A c + b for each pixel, where [12] holds A and b by rows.
Tensor exposed(const Tensor& image, const Tensor& exposure);

/// (1 - share) mean |x - y| + share (1 - SSIM).
Tensor difference(const Tensor& x, const Tensor& y, double share);

}  // namespace rlx::splat::train
