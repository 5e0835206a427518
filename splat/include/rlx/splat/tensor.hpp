// Renders over Tensor: for functions that are traced, differentiated and compiled. The operands of a call have one
// dtype, f32 or f64. What does not fit is a VerifyError at the call; it and the nodes have the caller's line, as
// those of rlx/tensor.hpp.
#pragma once
#include <rlx/splat/attributes.hpp>
#include <rlx/tensor.hpp>

#include <cstdint>

namespace rlx::splat {

/// Adds the operators of the family to the default catalog, once; each function here does so.
RLX_API void ensure_registered();

struct GaussianTensors {
  Tensor means;      ///< [n, 3]
  Tensor quats;      ///< [n, 4], w x y z of any length
  Tensor scales;     ///< [n, 3], standard deviations
  Tensor opacities;  ///< [n], 0 to 1
  Tensor sh;         ///< [n, k, 3], k of at least (degree + 1)^2
};
struct CameraTensors {
  Tensor views;          ///< [c, 4, 4], world to camera
  Tensor intrinsics;     ///< [c, 3, 3], pixels
  Tensor backgrounds{};  ///< [c, 3]; undefined: black
};
struct ImageTensors {
  Tensor image;  ///< [c, height, width, 3 or 4]
  Tensor alpha;  ///< [c, height, width]
};
/// All cameras at once; differentiates with respect to all of it. With RenderAttrs::entries 0 there is room for 64
/// tiles a Gaussian and camera; when the values are computed, more is a NumericalError of splat.tile_bin.
RLX_API ImageTensors render(const GaussianTensors& gaussians, const CameraTensors& cameras, RenderAttrs attrs,
                            RLX_HERE);

/// [.., h, w, c], two images each -> [..]: mean structural similarity.
RLX_API Tensor ssim(const Tensor& x, const Tensor& y, SsimAttrs attrs = {}, RLX_HERE);
/// points [n, 3] -> [n]: mean squared distance to the k nearest others.
RLX_API Tensor knn(const Tensor& points, std::int64_t k = 3, RLX_HERE);

}  // namespace rlx::splat
