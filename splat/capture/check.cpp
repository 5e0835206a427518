#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/type.hpp>
#include <rlx/splat/capture.hpp>

namespace rlx::splat {

void check(const Capture& c) {
  const auto& r = c.reconstruction;
  if (c.images.empty() || r.images.empty()) throw ArgumentError("a capture has no images");
  formats::check(r);
  if (c.images.size() != r.images.size())
    throw ArgumentError("a capture has " + counted(c.images.size(), "image") + " for " +
                        counted(r.images.size(), "pose"));
  for (std::size_t i = 0; i < c.size(); ++i) {
    const formats::Camera& camera = c.camera(i);
    const std::string what = "image \"" + c.pose(i).name + "\"";
    if (camera.model != formats::CameraModel::pinhole)
      throw ArgumentError(what + " has a camera " + std::string(formats::name(camera.model)) +
                          ": a capture has PINHOLE cameras (see undistorted_camera)");
    const HostTensor& image = c.images[i];
    const Type is = tensor(image.dtype(), {image.shape().begin(), image.shape().end()}),
               expected = tensor(DType::u8, {camera.height, camera.width, 3});
    if (is != expected)
      throw ArgumentError(what + " is " + to_string(is) + ", its camera makes " + to_string(expected));
  }
}

}  // namespace rlx::splat
