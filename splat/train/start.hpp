// Where a run begins: the extent of a scene and its first Gaussians.
#pragma once
#include <rlx/splat/train.hpp>

namespace rlx::splat::train {

/// 1.1 times the largest distance of a camera from the middle of all of them; lengths are relative to it.
double extent_of(const Capture& capture);
/// As the options say: Gaussians at the points of the capture, or at random places that the cameras look at, as wide as
/// their three neighbours are far. Throws ArgumentError for a start from points without any.
formats::GaussianCloud first_gaussians(const Capture& capture, const TrainOptions& options);

}  // namespace rlx::splat::train
