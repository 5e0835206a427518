// Posed photographs and the sparse points seen in them, as structure from motion gives them. A neutral model.
#pragma once
#include <rlx/formats/camera.hpp>
#include <rlx/ir/export.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rlx::formats {

/// A feature of an image; pixels as in camera.hpp.
struct Observation {
  double x = 0, y = 0;
  std::int64_t point = -1;  ///< Index into the points; -1 where none was made of it.
};

/// World to camera: X_camera = R(rotation) X_world + translation; the camera's axes are x right, y down, z forward.
struct PosedImage {
  std::uint32_t id = 0;                        ///< As the file numbers it.
  std::string name{};                          ///< Path of the image, relative to a folder that the file does not name.
  std::int64_t camera = 0;                     ///< Index into the cameras.
  std::array<double, 4> rotation{1, 0, 0, 0};  ///< w x y z, normalised.
  std::array<double, 3> translation{};
  std::vector<Observation> observations{};
};

struct TrackElement {
  std::uint32_t image = 0, observation = 0;  ///< Indices into the images and the image's observations.
};

/// n points in arrays.
struct SparsePoints {
  std::vector<std::uint64_t> ids{};          ///< [n] As the file numbers them.
  HostTensor positions{DType::f64, {0, 3}};  ///< In the world.
  HostTensor colours{DType::u8, {0, 3}};     ///< Red, green, blue.
  HostTensor errors{DType::f64, {0}};        ///< Mean reprojection error in pixels.
  std::vector<std::int64_t> track_offsets{
      0};  ///< [n + 1] Point i has tracks[track_offsets[i]] to tracks[track_offsets[i + 1]].
  std::vector<TrackElement> tracks{};

  std::int64_t size() const { return errors.numel(); }
};

struct Reconstruction {
  std::vector<Camera> cameras{};
  std::vector<PosedImage> images{};
  SparsePoints points{};
};

/// Throws ArgumentError, naming what is wrong, unless every camera passes check(), ids and names are not repeated, all
/// indices have what they point at, poses are finite with rotations of length 1 (within 1e-6), and arrays agree.
RLX_API void check(const Reconstruction& r);

/// Row-major 4x4.
RLX_API std::array<double, 16> world_to_camera(const PosedImage& image);
/// Row-major rotation of a quaternion w x y z of length 1.
RLX_API std::array<double, 9> rotation_matrix(const std::array<double, 4>& quaternion);
/// w x y z, normalised, w not negative, of a row-major rotation matrix.
RLX_API std::array<double, 4> rotation_quaternion(const std::array<double, 9>& rotation);

}  // namespace rlx::formats
