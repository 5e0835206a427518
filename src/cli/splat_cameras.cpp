#include "splat_cameras.hpp"

#include "option_checks.hpp"
#include "splat.hpp"

#include <rlx/formats/reconstruction_file.hpp>
#include <rlx/formats/undistort.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/viewpoint.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

namespace rlx::cli {

namespace {

constexpr Size default_size{800, 600};
constexpr double default_fov = 60;

splat::Vector3 vector(const std::string& text, const char* option) {
  const auto x = comma_numbers(text, 3, option);
  return {x[0], x[1], x[2]};
}

/// By its name, else by its place in the file.
const formats::PosedImage& chosen(const std::vector<formats::PosedImage>& images, const std::string& which,
                                  const std::string& file) {
  if (const auto found = std::ranges::find(images, which, &formats::PosedImage::name); found != images.end())
    return *found;
  std::size_t i = 0;
  const auto [end, code] = std::from_chars(which.data(), which.data() + which.size(), i);
  if (code == std::errc() && end == which.data() + which.size() && i < images.size()) return images[i];
  throw ArgumentError(file + " has no image \"" + which + "\": it has " + std::to_string(images.size()) +
                      ", from 0 (\"" + images.front().name + "\")");
}

}  // namespace

Size parse_size(const std::string& text) {
  Size s;
  const char *at = text.data(), *const end = at + text.size();
  const auto [x, code] = std::from_chars(at, end, s.width);
  if (code == std::errc() && x != end && *x == 'x') {
    const auto [stop, second] = std::from_chars(x + 1, end, s.height);
    if (second == std::errc() && stop == end && s.width > 0 && s.height > 0) return s;
  }
  throw UsageError("--size takes WIDTHxHEIGHT in pixels, not \"" + text + "\"");
}

void CameraFlags::add_to(CLI::App& app) {
  app.add_option("--camera", file, "camera of a COLMAP folder, transforms.json or cameras.json (which: --image)");
  app.add_option("--image", image, "name, or place from 0, of the image in --camera (default: the first)");
  app.add_option("--path", path, "all cameras of such a file, in its order, to a numbered sequence");
  app.add_option("--orbit", orbit, "so many cameras on a circle around the target, to a numbered sequence")
      ->check(number_from<int>(1, 1'000'000));
  app.add_option("--eye", eye, "where the camera is: x,y,z (default: so that the scene fills the image)");
  app.add_option("--target", target, "what it looks at: x,y,z (default: the middle of the scene)");
  app.add_option("--up", up, "what is up in the image: x,y,z (default 0,-1,0, up in PLY files)");
  app.add_option("--fov", fov, "field of view across the width, degrees (default 60); orthographic: at the target");
  app.add_option("--lens", lens, "pinhole, orthographic, or fisheye: equidistant, of a file's fisheye cameras too")
      ->check(CLI::IsMember({"pinhole", "orthographic", "fisheye"}))
      ->capture_default_str();
  app.add_option("--size", size, "of the images: WIDTHxHEIGHT (default that of the file's camera, else 800x600)");
}

void CameraFlags::check() const {
  if (file && path) throw UsageError("--camera and --path exclude each other");
  if (image && !file) throw UsageError("--image chooses from --camera");
  if ((file || path) && (eye || target || up || fov || orbit))
    throw UsageError("--eye, --target, --up, --fov and --orbit are for cameras that no file gives");
  if ((file || path) && lens == "orthographic")
    throw UsageError("--lens orthographic is for cameras that no file gives");
  if (size) (void)parse_size(*size);
  if (eye) (void)vector(*eye, "--eye");
  if (target) (void)vector(*target, "--target");
  if (up) (void)vector(*up, "--up");
  if (fov && !(*fov > 0 && *fov < 180)) throw UsageError("--fov is between 0 and 180 degrees");
}

splat::CameraModel CameraFlags::model() const {
  return lens == "fisheye"        ? splat::CameraModel::fisheye
         : lens == "orthographic" ? splat::CameraModel::ortho
                                  : splat::CameraModel::pinhole;
}

/// A pinhole is what the lens shows without its distortion; an equidistant fisheye has its focal lengths and centre.
formats::Camera CameraFlags::straightened(const formats::Camera& taken, const std::string& name) const {
  if (model() == splat::CameraModel::pinhole) return formats::undistorted_camera(taken);
  if (!formats::is_fisheye(taken.model))
    throw ArgumentError(name + ": camera " + std::to_string(taken.id) + " is " +
                        std::string(formats::name(taken.model)) + ", no fisheye");
  const formats::Pinhole p = formats::pinhole_of(taken);
  return {taken.id, formats::CameraModel::pinhole, taken.width, taken.height, {p.fx, p.fy, p.cx, p.cy}};
}

std::vector<View> CameraFlags::from_file(const std::string& name) const {
  const formats::Reconstruction r = formats::read_reconstruction(name);
  if (r.images.empty()) throw ArgumentError(name + " has no cameras");
  std::vector<View> views;
  const auto add = [&](const formats::PosedImage& pose) {
    formats::Camera camera = straightened(r.cameras[static_cast<std::size_t>(pose.camera)], name);
    if (size) {
      const Size s = parse_size(*size);
      camera = formats::resized(camera, s.width, s.height);
    }
    views.push_back({std::move(camera), pose});
  };
  if (path) std::ranges::for_each(r.images, add);
  else add(image ? chosen(r.images, *image, name) : r.images.front());
  return views;
}

std::vector<View> CameraFlags::views(const formats::GaussianCloud& scene) const {
  if (file || path) return from_file(file ? *file : *path);
  const Size s = size ? parse_size(*size) : default_size;
  const double angle = fov.value_or(default_fov) * std::numbers::pi / 180, across = static_cast<double>(s.width);
  formats::Camera camera = splat::pinhole_camera(s.width, s.height, angle), framing = camera;
  if (model() == splat::CameraModel::fisheye) {
    camera.parameters[0] = camera.parameters[1] = across / angle;
    const std::int64_t side = std::min(s.width, s.height);  // Where angles are what lengths are in the image.
    framing = splat::pinhole_camera(side, side, angle * static_cast<double>(side) / across);
  }
  splat::Ball ball = splat::ball_around(scene);
  if (target) ball.centre = vector(*target, "--target");
  const splat::Vector3 upwards = up ? vector(*up, "--up") : splat::world_up;
  const splat::Vector3 from = eye ? vector(*eye, "--eye") : splat::framing_eye(ball, framing, upwards);
  if (model() == splat::CameraModel::ortho) {  // Pixels a unit, as the pinhole has at the target.
    const double far = std::hypot(from[0] - ball.centre[0], from[1] - ball.centre[1], from[2] - ball.centre[2]);
    for (const std::size_t k : {0, 1}) camera.parameters[k] /= far;
  }
  std::vector<View> views;
  if (!orbit) views.push_back({camera, splat::look_at(from, ball.centre, upwards)});
  else
    for (formats::PosedImage& pose : splat::orbit(from, ball.centre, *orbit, upwards))
      views.push_back({camera, std::move(pose)});
  return views;
}

}  // namespace rlx::cli
