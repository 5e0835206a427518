#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "sizes.hpp"

namespace rlx::formats {

namespace {

using Shape = std::vector<std::int64_t>;

void check_array(const HostTensor& t, const Shape& shape, const char* name) {
  if (t.dtype() == DType::f32 && t.shape() == shape) return;
  throw ArgumentError("a cloud of Gaussians: " + std::string(name) + " must be f32" + shape_text(shape) + ", not " +
                      std::string(rlx::name(t.dtype())) + shape_text(t.shape()));
}

bool all_finite(const float* at, std::int64_t count) {
  // Zero times a finite number is zero, and NaN otherwise; a sum has no branch in it.
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += 0 * at[i];
  return sum == 0;
}

/// The first array of Gaussian i that makes it one that cannot be drawn; null where it can be.
const char* first_not_finite(const GaussianCloud& c, std::int64_t i) {
  const std::int64_t coefficients = 3 * sh_coefficients(c.sh_degree);
  if (!all_finite(c.means.as<float>().data() + 3 * i, 3)) return "means";
  if (!all_finite(c.log_scales.as<float>().data() + 3 * i, 3)) return "log_scales";
  if (!all_finite(c.quaternions.as<float>().data() + 4 * i, 4)) return "quaternions";
  if (std::isnan(c.opacity_logits.as<float>()[static_cast<std::size_t>(i)])) return "opacity_logits";
  if (!all_finite(c.sh.as<float>().data() + coefficients * i, coefficients)) return "sh";
  return nullptr;
}

HostTensor gather(const HostTensor& from, std::span<const std::int64_t> indices) {
  Shape shape = from.shape();
  const std::int64_t rows = shape[0];
  shape[0] = static_cast<std::int64_t>(indices.size());
  HostTensor to(from.dtype(), std::move(shape));
  if (indices.empty() || rows == 0) return to;
  const auto width = static_cast<std::size_t>(from.bytes() / rows);
  std::byte* out = to.mutable_data();
  for (const std::int64_t i : indices) {
    std::memcpy(out, from.data() + static_cast<std::size_t>(i) * width, width);
    out += width;
  }
  return to;
}

template <class Inside>
std::vector<std::int64_t> which(const GaussianCloud& cloud, Inside inside) {
  check(cloud);
  std::vector<std::int64_t> found;
  const auto means = cloud.means.as<float>();
  for (std::int64_t i = 0; i < cloud.size(); ++i)
    if (inside(&means[static_cast<std::size_t>(3 * i)]) && !first_not_finite(cloud, i)) found.push_back(i);
  return found;
}

}  // namespace

GaussianCloud make_gaussian_cloud(std::int64_t count, int sh_degree) {
  if (sh_degree < 0 || sh_degree > highest_sh_degree)
    throw ArgumentError("spherical harmonics of degree " + std::to_string(sh_degree) + ": known are 0 to 4");
  GaussianCloud c;
  c.sh_degree = sh_degree;
  c.means = HostTensor(DType::f32, {count, 3});
  c.log_scales = HostTensor(DType::f32, {count, 3});
  c.quaternions = HostTensor(DType::f32, {count, 4});
  c.opacity_logits = HostTensor(DType::f32, {count});
  c.sh = HostTensor(DType::f32, {count, sh_coefficients(sh_degree), 3});
  return c;
}

void check(const GaussianCloud& c) {
  if (c.sh_degree < 0 || c.sh_degree > highest_sh_degree)
    throw ArgumentError("a cloud of Gaussians: the degree " + std::to_string(c.sh_degree) + " is not one of 0 to 4");
  const std::int64_t n = c.size();
  check_array(c.opacity_logits, {n}, "opacity_logits");
  check_array(c.means, {n, 3}, "means");
  check_array(c.log_scales, {n, 3}, "log_scales");
  check_array(c.quaternions, {n, 4}, "quaternions");
  check_array(c.sh, {n, sh_coefficients(c.sh_degree), 3}, "sh");
}

GaussianSummary summarize(const GaussianCloud& c) {
  check(c);
  GaussianSummary s;
  s.count = c.size();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  s.lower.fill(infinity);
  s.upper.fill(-infinity);
  float smallest = infinity, largest = -infinity;
  double opacities = 0;
  for (std::int64_t i = 0; i < s.count; ++i) {
    if (first_not_finite(c, i)) {
      ++s.not_finite;
      continue;
    }
    const float *mean = c.means.as<float>().data() + 3 * i, *scale = c.log_scales.as<float>().data() + 3 * i,
                *q = c.quaternions.as<float>().data() + 4 * i, *logit = c.opacity_logits.as<float>().data() + i;
    s.zero_quaternions += q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0;
    for (std::size_t k = 0; k < 3; ++k) {
      s.lower[k] = std::min(s.lower[k], mean[k]);
      s.upper[k] = std::max(s.upper[k], mean[k]);
      smallest = std::min(smallest, scale[k]);
      largest = std::max(largest, scale[k]);
    }
    opacities += 1 / (1 + std::exp(-static_cast<double>(*logit)));
  }
  const std::int64_t finite = s.count - s.not_finite;
  if (finite == 0) {
    s.lower.fill(0);
    s.upper.fill(0);
    return s;
  }
  s.smallest_scale = std::exp(smallest);
  s.largest_scale = std::exp(largest);
  s.mean_opacity = opacities / static_cast<double>(finite);
  return s;
}

void check_finite(const GaussianCloud& c) {
  check(c);
  std::int64_t first = 0;
  while (first < c.size() && !first_not_finite(c, first)) ++first;
  if (first == c.size()) return;
  throw ArgumentError("Gaussian " + std::to_string(first) + " of " + std::to_string(c.size()) +
                      " has a NaN or an infinity in its " + first_not_finite(c, first) + " (not finite are " +
                      std::to_string(summarize(c).not_finite) + ")");
}

GaussianCloud select(const GaussianCloud& c, std::span<const std::int64_t> indices) {
  check(c);
  for (const std::int64_t i : indices)
    if (i < 0 || i >= c.size())
      throw ArgumentError("there is no Gaussian " + std::to_string(i) + " among " + std::to_string(c.size()));
  GaussianCloud out;
  out.sh_degree = c.sh_degree;
  out.antialiased = c.antialiased;
  out.means = gather(c.means, indices);
  out.log_scales = gather(c.log_scales, indices);
  out.quaternions = gather(c.quaternions, indices);
  out.opacity_logits = gather(c.opacity_logits, indices);
  out.sh = gather(c.sh, indices);
  return out;
}

std::vector<std::int64_t> inside_box(const GaussianCloud& cloud, std::array<float, 3> lower,
                                     std::array<float, 3> upper) {
  return which(cloud, [&](const float* p) {
    bool in = true;
    for (std::size_t k = 0; k < 3; ++k) in = in && p[k] >= lower[k] && p[k] <= upper[k];
    return in;
  });
}

std::vector<std::int64_t> inside_sphere(const GaussianCloud& cloud, std::array<float, 3> centre, float radius) {
  if (!(radius >= 0)) throw ArgumentError("a sphere of radius " + std::to_string(radius));
  return which(cloud, [&](const float* p) {
    double square = 0;  // Exact enough that the limit is where it is said to be, also far from the origin.
    for (std::size_t k = 0; k < 3; ++k) square += std::pow(static_cast<double>(p[k]) - centre[k], 2);
    return square <= static_cast<double>(radius) * radius;
  });
}

}  // namespace rlx::formats
