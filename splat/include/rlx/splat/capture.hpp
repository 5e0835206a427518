// Captures: posed images of a scene, photographed or made from a scene that is known.
#pragma once
#include <rlx/formats/reconstruction.hpp>
#include <rlx/splat/renderer.hpp>

#include <array>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace rlx::splat {

/// Posed images, in the order of their names, of PINHOLE cameras, with the points that were found in them.
struct Capture {
  formats::Reconstruction reconstruction;
  std::vector<HostTensor> images;  ///< u8 [height, width, 3], one for each of reconstruction.images.

  std::size_t size() const { return images.size(); }
  const formats::Camera& camera(std::size_t view) const {
    return reconstruction.cameras[static_cast<std::size_t>(reconstruction.images[view].camera)];
  }
  const formats::PosedImage& pose(std::size_t view) const { return reconstruction.images[view]; }
};

/// Throws ArgumentError, naming the image, unless there is an image, check(reconstruction) holds, there is one image a
/// pose, each u8 [height, width, 3] of its camera's size, and all cameras are pinholes.
RLX_API void check(const Capture& capture);

struct CaptureReading {
  /// Folder of the images; empty: `images` beside or above a COLMAP folder, the folder of a transforms.json.
  std::string images{};
  double scale = 1;                   ///< Of the images: 0.5 takes the mean of 2 x 2 pixels. From above 0 to 1.
  std::array<float, 3> background{};  ///< Behind images with an alpha channel.
};

/// A COLMAP folder (one that holds the model, or sparse/0 or sparse below it) or a transforms.json, with its images
/// undistorted. Throws what the readers throw; ArgumentError for an empty list of images, naming the file; FormatError,
/// naming the image and both sizes, where one has not the size of its camera.
RLX_API Capture read_capture(const std::string& path, const CaptureReading& reading = {});

struct SyntheticCapture {
  int views = 32;
  std::int64_t width = 200, height = 200;
  double field_of_view = 0.7;  ///< Across the width, radians.
  /// Of the cameras from the middle of the scene; 0: so far that a sphere which holds nearly all of it fills the image.
  double distance = 0;
  /// From the middle of the scene to the lowest camera, radians above the horizon, from -pi/2 (from all sides) to below
  /// pi/2. At 30 degrees 32 views lie 18 degrees apart, as photographs for a reconstruction do: what one shows, its
  /// neighbours show too. From the horizon up they lie 25 degrees apart, from all sides 36.
  double lowest_elevation = std::numbers::pi / 6;
  std::array<float, 3> background{};
  RenderMode mode = RenderMode::classic;
  /// The points of the capture are the means of the Gaussians, moved by normal noise of so much of the scene's radius
  /// along each axis, with the colours that the Gaussians have on average.
  double point_noise = 0.01;
  std::uint64_t seed = 0;
  std::string device{};  ///< Empty: default_device().
};

/// The scene from cameras on a sphere around it, which look at its middle: spread evenly over the part above the lowest
/// elevation, on a spiral from above downwards (world_up is up), so that the views before and after one are its
/// neighbours. PNG names "0000.png", ... Throws ArgumentError for no Gaussians, no views, and for sizes or an elevation
/// that are none.
RLX_API Capture capture_scene(const formats::GaussianCloud& scene, const SyntheticCapture& options = {});

/// A scene to be captured: coloured Gaussians on and in a ball of radius 1 around the origin, of which larger shapes
/// consist. The same count and seed give the same scene.
RLX_API formats::GaussianCloud synthetic_scene(std::int64_t count, std::uint64_t seed = 0);

}  // namespace rlx::splat
