#include <rlx/formats/dot_splat.hpp>
#include <rlx/ir/error.hpp>

#include <cmath>
#include <cstring>

#include "gaussian_codes.hpp"
#include "mapped_file.hpp"
#include "pending_file.hpp"

namespace rlx::formats {

namespace {

struct Record {
  float mean[3], scale[3];
  std::uint8_t colour[4], quaternion[4];
};
static_assert(sizeof(Record) == 32);

}  // namespace

GaussianCloud parse_dot_splat(std::string_view bytes, std::string file) {
  if (bytes.size() % sizeof(Record) != 0)
    throw FormatError(file, bytes.size() - bytes.size() % sizeof(Record),
                      "a .splat file has 32 bytes for each Gaussian, but " +
                          std::to_string(bytes.size() % sizeof(Record)) + " are left at the end");
  const std::size_t n = bytes.size() / sizeof(Record);
  GaussianCloud cloud = make_gaussian_cloud(static_cast<std::int64_t>(n), 0);
  if (n == 0) return cloud;
  float *mean = cloud.means.as_mutable<float>().data(), *scale = cloud.log_scales.as_mutable<float>().data(),
        *q = cloud.quaternions.as_mutable<float>().data(), *logit = cloud.opacity_logits.as_mutable<float>().data(),
        *sh = cloud.sh.as_mutable<float>().data();
  const auto logits = opacity_byte_logits();
  for (std::size_t i = 0; i < n; ++i) {
    Record r;
    std::memcpy(&r, bytes.data() + i * sizeof r, sizeof r);
    for (std::size_t k = 0; k < 3; ++k) {
      mean[3 * i + k] = r.mean[k];
      scale[3 * i + k] = std::log(r.scale[k]);
      sh[3 * i + k] = static_cast<float>((r.colour[k] / 255.0 - 0.5) / sh_constant);
    }
    for (std::size_t k = 0; k < 4; ++k) q[4 * i + k] = (static_cast<float>(r.quaternion[k]) - 128) / 128;
    logit[i] = logits[r.colour[3]];
  }
  return cloud;
}

GaussianCloud read_dot_splat(const std::string& path) { return parse_dot_splat(MappedFile::open(path)->bytes(), path); }

void write_dot_splat(const std::string& path, const GaussianCloud& cloud) {
  check(cloud);
  PendingFile out(path);
  const auto coefficients = static_cast<std::size_t>(3 * sh_coefficients(cloud.sh_degree));
  for (std::size_t i = 0; i < static_cast<std::size_t>(cloud.size()); ++i) {
    Record r;
    const float *q = cloud.quaternions.as<float>().data() + 4 * i, *sh = cloud.sh.as<float>().data() + coefficients * i;
    const double length = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
    for (std::size_t k = 0; k < 3; ++k) {
      r.mean[k] = cloud.means.as<float>()[3 * i + k];
      r.scale[k] = std::exp(cloud.log_scales.as<float>()[3 * i + k]);
      r.colour[k] = nearest_byte((0.5 + sh_constant * sh[k]) * 255);
    }
    r.colour[3] = nearest_byte(255 * sigmoid(cloud.opacity_logits.as<float>()[i]));
    for (std::size_t k = 0; k < 4; ++k) {
      const double part = q[k] / length;  // NaN for a quaternion of zero
      r.quaternion[k] = nearest_byte(std::isfinite(part) ? 128 + 128 * part : 128);
    }
    out.write(&r, sizeof r);
  }
  out.commit();
}

}  // namespace rlx::formats
