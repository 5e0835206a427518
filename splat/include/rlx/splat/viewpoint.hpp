// Where to look at a scene from: poses of cameras, in the conventions of rlx/formats/reconstruction.hpp.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/formats/reconstruction.hpp>

#include <array>
#include <vector>

namespace rlx::splat {

using Vector3 = std::array<double, 3>;

/// Up in the axes of PLY files (see GaussianCloud).
inline constexpr Vector3 world_up{0, -1, 0};

struct Ball {
  Vector3 centre{};
  double radius = 1;
};
/// Around the median of the means, with 99 of 100 of those that are finite; the unit ball where there is none. Never of
/// radius 0.
RLX_API Ball ball_around(const formats::GaussianCloud& scene);

/// PINHOLE, its centre in the middle. `field_of_view`: across the width, radians. Throws ArgumentError unless that is
/// between 0 and pi and the size is one of formats::check(Camera).
RLX_API formats::Camera pinhole_camera(std::int64_t width, std::int64_t height, double field_of_view);

/// A camera at `eye` that looks at `target`, `up` upwards in its image as far as can be. Where they are parallel
/// another direction is taken for up; throws ArgumentError where eye and target are the same, or something is not
/// finite.
RLX_API formats::PosedImage look_at(const Vector3& eye, const Vector3& target, const Vector3& up = world_up);

/// So far from the centre of the ball that all of it is in the image.
RLX_API double framing_distance(const Ball& ball, const formats::Camera& camera);

/// From the front, along z (y where that is up), and a little above, at that distance.
RLX_API Vector3 framing_eye(const Ball& ball, const formats::Camera& camera, const Vector3& up = world_up);

/// `count` poses on a circle around the axis `up` through `target`, evenly, that begins at `eye`; all look at `target`.
RLX_API std::vector<formats::PosedImage> orbit(const Vector3& eye, const Vector3& target, int count,
                                               const Vector3& up = world_up);

}  // namespace rlx::splat
