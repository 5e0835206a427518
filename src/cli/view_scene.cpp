#include "view_scene.hpp"

#include "splat.hpp"

#include <rlx/formats/reconstruction.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/viewpoint.hpp>

#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace rlx::cli {

namespace {

static_assert(std::endian::native == std::endian::little, "the page reads what memory holds");

constexpr std::size_t head_bytes = 64, shape_floats = 12;

/// The upper triangle of R diag(scales^2) R^T; a quaternion of zero is no rotation.
void covariance(std::span<const float> log_scales, std::span<const float> quaternion, float* out) {
  double w = quaternion[0], x = quaternion[1], y = quaternion[2], z = quaternion[3];
  const double length = std::sqrt(w * w + x * x + y * y + z * z);
  if (length > 0) w /= length, x /= length, y /= length, z /= length;
  else w = 1;
  const auto r = formats::rotation_matrix({w, x, y, z});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = i; k < 3; ++k) {
      double sum = 0;
      for (std::size_t m = 0; m < 3; ++m) sum += r[3 * i + m] * r[3 * k + m] * std::exp(2.0 * log_scales[m]);
      *out++ = static_cast<float>(sum);
    }
}

}  // namespace

std::string view_bytes(const formats::GaussianCloud& cloud) {
  check(cloud);
  const auto n = static_cast<std::size_t>(cloud.size());
  const auto coefficients = static_cast<std::size_t>(3 * formats::sh_coefficients(cloud.sh_degree));
  const std::size_t stride = (coefficients + 3) / 4;
  const auto means = cloud.means.as<float>(), scales = cloud.log_scales.as<float>(),
             quaternions = cloud.quaternions.as<float>(), logits = cloud.opacity_logits.as<float>(),
             sh = cloud.sh.as<float>();
  std::string bytes(head_bytes + 4 * n * (shape_floats + 4 * stride), '\0');
  const splat::Ball ball = splat::ball_around(cloud);
  const std::uint32_t words[] = {0x56584c52,
                                 1,
                                 static_cast<std::uint32_t>(n),
                                 static_cast<std::uint32_t>(cloud.sh_degree),
                                 static_cast<std::uint32_t>(stride),
                                 cloud.antialiased ? 1u : 0u};
  const float place[] = {static_cast<float>(ball.centre[0]), static_cast<float>(ball.centre[1]),
                         static_cast<float>(ball.centre[2]), static_cast<float>(ball.radius)};
  std::memcpy(bytes.data(), words, sizeof words);
  std::memcpy(bytes.data() + 32, place, sizeof place);
  char* out = bytes.data() + head_bytes;
  for (std::size_t i = 0; i < n; ++i) {
    float shape[shape_floats] = {means[3 * i], means[3 * i + 1], means[3 * i + 2], 1 / (1 + std::exp(-logits[i]))};
    covariance(scales.subspan(3 * i, 3), quaternions.subspan(4 * i, 4), shape + 4);
    std::memcpy(out, shape, sizeof shape);
    out += sizeof shape;
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(out, &sh[coefficients * i], 4 * coefficients);
    out += 16 * stride;
  }
  return bytes;
}

LiveScene::LiveScene(const std::string& path, bool raw_axes) : file_(path), raw_axes_(raw_axes) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  if (folder) file_ = (std::filesystem::path(path) / "scene.ply").string();
  if (folder && !std::filesystem::exists(file_, ignored)) return;
  if (!std::filesystem::exists(file_, ignored))  // Whatever its name: it may be the folder of a training to come.
    throw FormatError(file_, 0, "there is no such scene, and no such folder of a training");
  read();
}

std::optional<LiveScene::Stamp> LiveScene::stamp() const {
  struct ::stat s{};
  if (::stat(file_.c_str(), &s) != 0) return std::nullopt;
  return Stamp{s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_size, s.st_ino};
}

void LiveScene::read() {
  const auto before = stamp();  // Of a file that is replaced meanwhile the next look finds another.
  const formats::GaussianCloud cloud = read_finite_scene(file_, raw_axes_);
  state_ = {state_.version + 1, std::make_shared<const std::string>(view_bytes(cloud)), cloud.size(), {}};
  stamp_ = before;
}

ViewState LiveScene::look() {
  const std::lock_guard lock(mutex_);
  const auto now = stamp();
  if (!now || now == stamp_) return state_;  // none: before the first scene
  try {
    read();
  } catch (const std::exception& e) {
    state_.error = e.what();
    stamp_ = now;
  }
  return state_;
}

}  // namespace rlx::cli
