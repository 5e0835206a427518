#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
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
    if (image.dtype() != DType::u8 || image.shape() != std::vector<std::int64_t>{camera.height, camera.width, 3}) {
      std::string shape;
      for (const std::int64_t d : image.shape()) shape += (shape.empty() ? "" : ", ") + std::to_string(d);
      throw ArgumentError(what + " is " + std::string(name(image.dtype())) + "[" + shape + "], its camera makes u8[" +
                          std::to_string(camera.height) + ", " + std::to_string(camera.width) + ", 3]");
    }
  }
}

}  // namespace rlx::splat
