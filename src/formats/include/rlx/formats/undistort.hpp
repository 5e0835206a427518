// Photographs without the distortion of their lens.
#pragma once
#include <rlx/formats/camera.hpp>
#include <rlx/ir/host_tensor.hpp>

namespace rlx::formats {

enum class Keep : std::uint8_t {
  valid_pixels,  ///< Every pixel of the result shows something.
  all_pixels,    ///< Every pixel of the photograph is in the result, which has black edges.
};

/// A PINHOLE camera of the same focal lengths, whose size and centre are scaled so that it keeps what is asked for; a
/// scale is at least 0.2 and at most 2, which matters for fisheye lenses. As COLMAP's UndistortCamera with
/// blank_pixels 0 or 1; of edges beyond 2^16 pixels, as many evenly are looked at. Throws what check(camera) throws.
RLX_API Camera undistorted_camera(const Camera& camera, Keep keep = Keep::valid_pixels);

/// What `to` would have seen where `from` took `image` ([height, width, channels], u8, u16 or f32): bilinear, zero
/// where `from` saw nothing, u8 and u16 rounded to nearest. Throws ArgumentError where the image has not the size of
/// `from`.
RLX_API HostTensor undistort_image(const HostTensor& image, const Camera& from, const Camera& to);

}  // namespace rlx::formats
