// Pictures of a scene: compiled renders of a cloud of Gaussians, one program for each size of image.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/formats/reconstruction.hpp>
#include <rlx/splat/render.hpp>
#include <rlx/tensor.hpp>

#include <array>
#include <memory>
#include <string>

namespace rlx::splat {

struct RendererOptions {
  CameraModel camera = CameraModel::pinhole;
  RenderMode mode = RenderMode::classic;
  int degree = -1;  ///< Of the harmonics that are drawn; -1: all that the cloud has.
  std::array<float, 3> background{};
  bool depth = false;    ///< Whether pictures have a depth.
  std::string device{};  ///< Empty: default_device().
};

struct Picture {
  HostTensor colours;  ///< f32 [height, width, 3], the background where nothing is.
  HostTensor alpha;    ///< f32 [height, width]
  HostTensor depth{};  ///< f32 [height, width]: mean of z weighted as colours are, 0 where nothing is; if asked for.
};

/// Draws one scene from any camera. The lists of tiles have room for what was drawn so far and get more when a picture
/// needs it, so that few programs are compiled.
class RLX_API Renderer {
 public:
  /// Throws what check(cloud) throws, and ArgumentError for a degree that the cloud has not, for Gaussians that are not
  /// finite and for a background that is not.
  explicit Renderer(const formats::GaussianCloud& cloud, RendererOptions options = {});
  ~Renderer();
  Renderer(Renderer&&) noexcept;
  Renderer& operator=(Renderer&&) noexcept;

  /// The camera is PINHOLE or SIMPLE_PINHOLE (ArgumentError otherwise: see undistorted_camera) and one that
  /// formats::check accepts, whatever RendererOptions::camera makes of its rays; the pose is finite and its rotation
  /// not zero.
  Picture picture(const formats::Camera& camera, const formats::PosedImage& pose) const;
  /// Its colours.
  HostTensor operator()(const formats::Camera& camera, const formats::PosedImage& pose) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// u8 of 0 to 1 f32: clamped, rounded to nearest.
RLX_API HostTensor unit_bytes(const HostTensor& image);

}  // namespace rlx::splat
