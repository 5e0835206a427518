// What ssim and its gradient share: the Gaussian window, and similarity from moments.
#pragma once
#include "splat/ops/common.hpp"

namespace rlx::splat {

inline constexpr std::int64_t ssim_window = 11, ssim_reach = ssim_window / 2;

/// Weights of the window along an axis, of deviation 1.5 pixels and sum 1.
std::array<double, ssim_window> ssim_weights();
/// Zeros that are read on each side of an image.
std::int64_t ssim_zeros(const SsimAttrs& a);
/// The constants of range that keep quotients finite.
struct SsimConstants {
  double c1, c2;
  explicit SsimConstants(const SsimAttrs& a);
};

/// Fields [.., h, w, c], all alike, through the window together, with so many zeros on each side of the image.
Values windowed(ValuesIn fields, std::int64_t zeros);

/// Similarity at each pixel: a1 a2 / (b1 b2).
struct Similarity {
  Value mx, my;  ///< Means.
  Value a1, a2, b1, b2;
  Similarity(const SsimAttrs& a, Value x, Value y);
};

/// Operands 0 and 1 are images that the window fits; constraints of both operators.
Answer ssim_images(const SsimAttrs&, const Signature&);
Answer ssim_sizes(const SsimAttrs&, const Signature&);
Answer ssim_range(const SsimAttrs&, const Signature&);

}  // namespace rlx::splat
