// Scenes of 3D Gaussians, as every format of them gives it. A neutral model that knows no operator.
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace rlx::formats {

/// The spherical harmonic of degree 0, 1 / (2 sqrt(pi)): colours are 0.5 + sh_constant * sh[0] and what higher ones
/// add.
inline constexpr double sh_constant = 0.28209479177387814;
/// Coefficients of spherical harmonics up to `degree`, for one colour channel.
constexpr std::int64_t sh_coefficients(int degree) { return std::int64_t{degree + 1} * (degree + 1); }
inline constexpr int highest_sh_degree = 4;

/// n Gaussians, all arrays f32, each property before its activation: that is what is trained and what PLY stores. The
/// axes are those of PLY files: where a capture has an up, it is -y.
struct GaussianCloud {
  int sh_degree = 0;         ///< 0 to 4.
  bool antialiased = false;  ///< Trained for the antialiased mode of rendering; .splat cannot say it.
  HostTensor means{DType::f32, {0, 3}};
  HostTensor log_scales{DType::f32, {0, 3}};   ///< Standard deviations along the Gaussian's own axes: exp of these.
  HostTensor quaternions{DType::f32, {0, 4}};  ///< w x y z, own axes to world, of any length but zero.
  HostTensor opacity_logits{DType::f32, {0}};  ///< Opacity: 1 / (1 + exp(-logit)); an infinite logit is 0 or 1.
  /// [n, (degree + 1)^2, 3], in the order of Kerbl et al. 2023. Colour: max(0, 0.5 + sum of coefficient times basis).
  HostTensor sh{DType::f32, {0, 1, 3}};

  std::int64_t size() const { return opacity_logits.numel(); }
};

/// Zeros of the shapes above. Throws ArgumentError on a negative count or a degree outside 0 to 4, MemoryError where
/// they cannot be had.
RLX_API GaussianCloud make_gaussian_cloud(std::int64_t count, int sh_degree);
/// Throws ArgumentError, naming the array, unless all have the types and shapes of a cloud.
RLX_API void check(const GaussianCloud& cloud);

/// A Gaussian is finite without a NaN, and without an infinity but in opacity_logits. Others cannot be drawn: readers
/// keep them and summaries count them, selections by place leave them out, and what draws refuses a cloud with one
/// (check_finite).
struct GaussianSummary {
  std::int64_t count = 0;
  std::int64_t not_finite = 0;
  std::int64_t zero_quaternions = 0;  ///< Of the finite ones.
  // Over the finite Gaussians; zero where there is none.
  std::array<float, 3> lower{}, upper{};        ///< Box of the means.
  float smallest_scale = 0, largest_scale = 0;  ///< After exp.
  double mean_opacity = 0;                      ///< After the sigmoid.
};
RLX_API GaussianSummary summarize(const GaussianCloud& cloud);

/// Throws ArgumentError where a Gaussian is not finite, with the first one's index and array and how many there are.
RLX_API void check_finite(const GaussianCloud& cloud);

/// The Gaussians at `indices`, in that order. Throws ArgumentError on one outside the cloud.
RLX_API GaussianCloud select(const GaussianCloud& cloud, std::span<const std::int64_t> indices);

/// Indices of the finite ones whose mean lies in the box, limits included.
RLX_API std::vector<std::int64_t> inside_box(const GaussianCloud& cloud, std::array<float, 3> lower,
                                             std::array<float, 3> upper);
/// Likewise; throws ArgumentError unless the radius is 0 or above, which includes infinity.
RLX_API std::vector<std::int64_t> inside_sphere(const GaussianCloud& cloud, std::array<float, 3> centre, float radius);

}  // namespace rlx::formats
