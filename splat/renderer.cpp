#include <rlx/ir/error.hpp>
#include <rlx/jit.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/splat/render.hpp>
#include <rlx/splat/renderer.hpp>
#include <rlx/splat/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <mutex>

#include "splat/list_room.hpp"

namespace rlx::splat {

namespace {

/// From the scene and a camera to entries, image, alpha and perhaps depth.
using DrawingProgram = Jit<std::function<Tensors(const Tensors&)>>;

HostTensor map(const HostTensor& x, float (*f)(float)) {
  HostTensor out(DType::f32, x.shape());
  std::transform(x.as<float>().begin(), x.as<float>().end(), out.as_mutable<float>().begin(), f);
  return out;
}

/// C1 of splat.tile_bin, told in the caller's words: pixels.
bool tiles_are_counted(const formats::Camera& camera) {
  const std::int64_t tile = RenderOptions{}.tile, most = std::int64_t{1} << 20;
  const std::int64_t columns = (camera.width - 1) / tile + 1, rows = (camera.height - 1) / tile + 1;
  return columns <= most && rows <= most && columns * rows <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

class Renderer::Impl {
 public:
  Impl(const formats::GaussianCloud& cloud, RendererOptions options)
      : options_(std::move(options)), room_(16 * cloud.size()) {
    check(cloud);
    if (options_.degree > cloud.sh_degree)
      throw ArgumentError("a render of degree " + std::to_string(options_.degree) + " of Gaussians of degree " +
                          std::to_string(cloud.sh_degree));
    check_finite(cloud);
    for (const float x : options_.background)
      if (!std::isfinite(x)) throw ArgumentError("the background of a render is not finite");
    if (options_.degree < 0) options_.degree = cloud.sh_degree;
    scene_ = {cloud.means, cloud.quaternions, map(cloud.log_scales, [](float x) { return std::exp(x); }),
              map(cloud.opacity_logits, [](float x) { return 1 / (1 + std::exp(-x)); }), cloud.sh};
  }

  Picture draw(const formats::Camera& camera, const formats::PosedImage& pose) {
    formats::check(camera);
    double squares = 0;
    for (const double x : pose.rotation) squares += x * x;
    for (const double x : pose.translation) squares += std::isfinite(x) ? 0 : x;
    if (!std::isfinite(squares) || squares == 0)
      throw ArgumentError("a pose of a render is not finite, or its rotation is zero");
    if (camera.model != formats::CameraModel::pinhole && camera.model != formats::CameraModel::simple_pinhole)
      throw ArgumentError("a render takes a PINHOLE camera, not " + std::string(formats::name(camera.model)));
    if (!tiles_are_counted(camera))
      throw ArgumentError("an image of " + std::to_string(camera.width) + " x " + std::to_string(camera.height) +
                          " pixels has more tiles than splat.tile_bin counts");
    const auto view = formats::world_to_camera(pose);
    const formats::Pinhole p = formats::pinhole_of(camera);
    const double intrinsics[] = {p.fx, 0, p.cx, 0, p.fy, p.cy, 0, 0, 1};
    const auto& b = options_.background;
    const double background[] = {b[0], b[1], b[2]};
    ensure_registered();
    Tensors in = scene_;
    in.push_back(HostTensor::from(DType::f32, {1, 4, 4}, view));
    in.push_back(HostTensor::from(DType::f32, {1, 3, 3}, intrinsics));
    in.push_back(HostTensor::from(DType::f32, {1, 3}, background));
    const std::lock_guard lock(mutex_);
    const Tensors out = room_.fitted(0, [&] { return program(camera.width, camera.height)(in); });
    const std::vector<std::int64_t> size{camera.height, camera.width};
    Picture picture{out[1].host_tensor().reshaped({size[0], size[1], 3}), out[2].host_tensor().reshaped(size)};
    if (options_.depth) picture.depth = out[3].host_tensor().reshaped(size);
    return picture;
  }

 private:
  const DrawingProgram& program(std::int64_t width, std::int64_t height) {
    const auto key = std::array{width, height, room_.entries()};
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
    RenderOptions o{.project = {.width = width, .height = height, .camera = options_.camera},
                    .degree = options_.degree,
                    .mode = options_.mode,
                    .channels = options_.depth ? Channels::expected_depth : Channels::rgb,
                    .entries = room_.entries(),
                    .cut = true};
    std::function<Tensors(const Tensors&)> f = [o](const Tensors& in) {
      const Handles out = build({in.begin(), in.end()}, [&](Builder&, ValuesIn v) {
        const Rendered r = render({v[0], v[1], v[2], v[3], v[4]}, {v[5], v[6], v[7]}, o);
        if (o.channels == Channels::rgb) return Values{r.wanted, r.image, r.alpha};
        return Values{r.wanted, ops::slice_axis(r.image, 3, 0, 3), r.alpha, ops::slice_axis(r.image, 3, 3, 4)};
      });
      Tensors results;
      for (const Handle& h : out) results.emplace_back(h);
      return results;
    };
    return programs_.emplace(key, jit(std::move(f), {.device = options_.device}, Here::nowhere())).first->second;
  }

  RendererOptions options_;
  Tensors scene_;  // means, quaternions, scales, opacities, harmonics
  std::mutex mutex_;
  ListRoom room_;
  std::map<std::array<std::int64_t, 3>, DrawingProgram> programs_;  // by width, height and entries
};

Renderer::Renderer(const formats::GaussianCloud& cloud, RendererOptions options)
    : impl_(std::make_unique<Impl>(cloud, std::move(options))) {}
Renderer::~Renderer() = default;
Renderer::Renderer(Renderer&&) noexcept = default;
Renderer& Renderer::operator=(Renderer&&) noexcept = default;

Picture Renderer::picture(const formats::Camera& camera, const formats::PosedImage& pose) const {
  return impl_->draw(camera, pose);
}
HostTensor Renderer::operator()(const formats::Camera& camera, const formats::PosedImage& pose) const {
  return impl_->draw(camera, pose).colours;
}

HostTensor unit_bytes(const HostTensor& image) {
  if (image.dtype() != DType::f32) throw ArgumentError("unit_bytes takes f32, not " + std::string(name(image.dtype())));
  HostTensor out(DType::u8, image.shape());
  std::transform(image.as<float>().begin(), image.as<float>().end(), out.as_mutable<std::uint8_t>().begin(),
                 [](float x) { return static_cast<std::uint8_t>(x > 0 ? std::min(x, 1.0f) * 255 + 0.5f : 0); });
  return out;
}

}  // namespace rlx::splat
