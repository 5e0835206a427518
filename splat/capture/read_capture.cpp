#include <rlx/formats/image.hpp>
#include <rlx/formats/reconstruction_file.hpp>
#include <rlx/formats/undistort.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/text_reader.hpp>
#include <rlx/splat/capture.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

namespace rlx::splat {

namespace {

namespace fs = std::filesystem;

/// The photographs lie beside a .json, or in `images` beside the model of COLMAP or the folders that it lies in.
fs::path images_of(const std::string& place) {
  fs::path at = fs::absolute(place).lexically_normal();
  if (at.extension() == ".json") return at.parent_path();
  std::error_code ignored;
  for (int up = 0; up < 4; ++up, at = at.parent_path())
    if (fs::is_directory(at / "images", ignored)) return at / "images";
  throw ArgumentError("there is no folder \"images\" in " + place + " or above it: name the one of the images");
}

/// RGB of any image: grey repeated, what is transparent over the background.
HostTensor coloured(const HostTensor& image, const std::array<float, 3>& background) {
  const HostTensor from = formats::unit_floats(image);
  const std::int64_t channels = from.shape()[2], pixels = from.shape()[0] * from.shape()[1];
  if (channels == 3) return from;
  HostTensor out(DType::f32, {from.shape()[0], from.shape()[1], 3});
  const float* in = from.as<float>().data();
  float* to = out.as_mutable<float>().data();
  for (std::int64_t p = 0; p < pixels; ++p, in += channels)
    for (std::size_t c = 0; c < 3; ++c) {
      const float value = in[channels > 2 ? c : 0], alpha = channels % 2 == 0 ? in[channels - 1] : 1;
      *to++ = alpha * value + (1 - alpha) * background[c];
    }
  return out;
}

/// Along one axis of [rows, size, row]: each new element is the mean of the old ones that it covers, with parts.
std::vector<float> shrunk(const std::vector<float>& x, std::int64_t rows, std::int64_t size, std::int64_t row,
                          std::int64_t wanted) {
  std::vector<float> out(static_cast<std::size_t>(rows * wanted * row));
  const double ratio = static_cast<double>(size) / static_cast<double>(wanted);
  for (std::int64_t k = 0; k < wanted; ++k) {
    const double from = static_cast<double>(k) * ratio, to = static_cast<double>(k + 1) * ratio;
    for (auto i = static_cast<std::int64_t>(from); i < std::min(size, static_cast<std::int64_t>(std::ceil(to))); ++i) {
      const double part = std::min(to, static_cast<double>(i + 1)) - std::max(from, static_cast<double>(i));
      const auto weight = static_cast<float>(part / ratio);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < row; ++j)
          out[static_cast<std::size_t>((r * wanted + k) * row + j)] +=
              weight * x[static_cast<std::size_t>((r * size + i) * row + j)];
    }
  }
  return out;
}

HostTensor scaled(const HostTensor& image, std::int64_t height, std::int64_t width) {
  const std::int64_t h = image.shape()[0], w = image.shape()[1];
  if (h == height && w == width) return image;
  std::vector<float> x(image.as<float>().begin(), image.as<float>().end());
  x = shrunk(shrunk(x, h, w, 3, width), 1, h, width * 3, height);
  HostTensor out(DType::f32, {height, width, 3});
  std::ranges::copy(x, out.as_mutable<float>().begin());
  return out;
}

formats::Camera scaled(const formats::Camera& c, double scale) {
  const auto smaller = [&](std::int64_t size) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(size) * scale));
  };
  return formats::resized(c, smaller(c.width), smaller(c.height));
}

}  // namespace

Capture read_capture(const std::string& path, const CaptureReading& reading) {
  if (!(reading.scale > 0 && reading.scale <= 1)) {
    std::string text = "the scale of images is ";
    print_number(text, reading.scale);
    throw ArgumentError(text + ", not a number above 0 and at most 1");
  }
  const std::string place = formats::locate_reconstruction(path);
  formats::Reconstruction r = formats::read_reconstruction(place);
  const fs::path images = reading.images.empty() ? images_of(place) : fs::path(reading.images);
  if (r.images.empty()) throw ArgumentError(path + " names no images");
  std::sort(r.images.begin(), r.images.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const std::vector<formats::Camera> photographed = r.cameras;
  for (formats::Camera& c : r.cameras) c = formats::undistorted_camera(c);
  Capture out;
  for (formats::PosedImage& pose : r.images) {
    const auto k = static_cast<std::size_t>(pose.camera);
    const formats::Camera &taken = photographed[k], &straight = r.cameras[k];
    const std::string file = (images / pose.name).string();
    HostTensor image = coloured(formats::read_image(file), reading.background);
    if (image.shape()[0] != taken.height || image.shape()[1] != taken.width)
      throw FormatError(file, 0,
                        "an image of " + std::to_string(image.shape()[1]) + " x " + std::to_string(image.shape()[0]) +
                            " pixels, expected " + std::to_string(taken.width) + " x " + std::to_string(taken.height) +
                            ", as camera " + std::to_string(taken.id) + " has");
    const bool bent =
        taken.model != formats::CameraModel::pinhole && taken.model != formats::CameraModel::simple_pinhole;
    if (bent) image = formats::undistort_image(image, taken, straight);
    const formats::Camera smaller = scaled(straight, reading.scale);
    out.images.push_back(unit_bytes(scaled(image, smaller.height, smaller.width)));
    pose.observations.clear();  // Of pixels that are no more.
  }
  for (formats::Camera& c : r.cameras) c = scaled(c, reading.scale);
  r.points.tracks.clear();
  std::fill(r.points.track_offsets.begin(), r.points.track_offsets.end(), 0);
  out.reconstruction = std::move(r);
  check(out);
  return out;
}

}  // namespace rlx::splat
