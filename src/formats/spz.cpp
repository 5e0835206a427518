#include <rlx/formats/spz.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gaussian_codes.hpp"
#include "mapped_file.hpp"
#include "pending_file.hpp"
#include "spz_container.hpp"

namespace rlx::formats {

namespace {

constexpr double colour_scale = 0.15;  // of the coefficient of degree 0, where others have sh_constant
constexpr int default_fractional_bits = 12;
constexpr std::int32_t largest_fixed = (1 << 23) - 1;
constexpr std::uint32_t largest_part = 511;  // of a quaternion, in 9 bits and a sign

/// -1 for each axis that points the other way than ours.
struct Flips {
  float axis[3] = {1, 1, 1};

  float quaternion(std::size_t k) const { return axis[(k + 1) % 3] * axis[(k + 2) % 3]; }
  /// Basis functions are even or odd in each coordinate: with azimuth p they go as cos(m p), or sin(-m p) for m < 0,
  /// and as a polynomial in z of the parity of l + m.
  float harmonic(int l, int m) const {
    const bool odd_m = m % 2 != 0, odd_x = m < 0 ? !odd_m : odd_m, odd_y = m < 0, odd_z = (l + m) % 2 != 0;
    return (odd_x ? axis[0] : 1) * (odd_y ? axis[1] : 1) * (odd_z ? axis[2] : 1);
  }
};

// Axes as the format numbers them: 1 + a bit each for right, up and front; 9 to 16 have y and z exchanged.
constexpr std::uint32_t plain_axes = 8, ours = 6, right_up_back = 4;

Flips flips_from(std::uint32_t axes) {
  Flips f;
  for (std::size_t k = 0; k < 3; ++k)
    if (((axes - 1) ^ (ours - 1)) >> k & 1) f.axis[k] = -1;
  return f;
}

std::uint32_t number(SpzAxes axes) { return axes == SpzAxes::right_up_back ? right_up_back : ours; }

/// Signs of the coefficients behind the first, one a coefficient.
std::vector<float> harmonic_signs(const Flips& flips, int degree) {
  std::vector<float> signs;
  for (int l = 1; l <= degree; ++l)
    for (int m = -l; m <= l; ++m) signs.push_back(flips.harmonic(l, m));
  return signs;
}

const std::uint8_t* bytes_of(const SpzContent& c, SpzArray array) {
  return reinterpret_cast<const std::uint8_t*>(c.arrays[array].data());
}

void read_means(const SpzContent& c, const Flips& flips, float* out) {
  const std::uint8_t* from = bytes_of(c, spz_means);
  const std::size_t n = std::size_t{3} * c.count;
  const float unit = std::ldexp(1.0f, -c.fractional_bits);
  for (std::size_t i = 0; i < n; ++i) {
    if (c.version == 1) {
      std::uint16_t half = 0;
      std::memcpy(&half, from + 2 * i, 2);
      out[i] = flips.axis[i % 3] * static_cast<float>(f16_value(half));
    } else {
      const std::uint32_t word =
          std::uint32_t{from[3 * i]} | std::uint32_t{from[3 * i + 1]} << 8 | std::uint32_t{from[3 * i + 2]} << 16;
      const auto value = static_cast<std::int32_t>(word << 8) >> 8;
      out[i] = flips.axis[i % 3] * unit * static_cast<float>(value) + 0.0f;  // no negative zero of a flip
    }
  }
}

// Files have x y z w; here it is w x y z.
void read_first_three(const std::uint8_t* from, const Flips& flips, float* q) {
  float squares = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const float part = static_cast<float>(from[k]) / 127.5f - 1;
    squares += part * part;
    q[k + 1] = flips.quaternion(k) * part;
  }
  q[0] = std::sqrt(std::max(0.0f, 1 - squares));
}

// From the low bits up the three smaller components, the last one first, each 9 bits and a sign; then 2 bits that tell
// the largest.
void read_smallest_three(const std::uint8_t* from, const Flips& flips, float* q) {
  std::uint32_t word = 0;
  std::memcpy(&word, from, 4);
  const std::size_t largest = word >> 30;
  float parts[4], squares = 0;
  for (std::size_t k = 4; k-- > 0;) {
    if (k == largest) continue;
    const float size = std::sqrt(0.5f) * static_cast<float>(word & largest_part) / static_cast<float>(largest_part);
    parts[k] = word >> 9 & 1 ? -size : size;
    squares += size * size;
    word >>= 10;
  }
  parts[largest] = std::sqrt(std::max(0.0f, 1 - squares));
  for (std::size_t k = 0; k < 3; ++k) q[k + 1] = flips.quaternion(k) * parts[k];
  q[0] = parts[3];
}

void read_harmonics(const SpzContent& c, const Flips& flips, float* sh) {
  const std::uint8_t *colour = bytes_of(c, spz_colours), *rest = bytes_of(c, spz_harmonics);
  const std::vector<float> signs = harmonic_signs(flips, c.sh_degree);
  for (std::size_t i = 0; i < c.count; ++i) {
    for (std::size_t k = 0; k < 3; ++k) *sh++ = static_cast<float>((*colour++ / 255.0 - 0.5) / colour_scale);
    for (const float sign : signs)
      for (std::size_t k = 0; k < 3; ++k) *sh++ = sign * (static_cast<float>(*rest++) - 128) / 128;
  }
}

int fractional_bits_for(const GaussianCloud& cloud) {
  float most = 0;
  for (const float x : cloud.means.as<float>()) most = std::max(most, std::abs(x));
  int bits = default_fractional_bits;
  while (bits > 0 && std::round(std::ldexp(most, bits)) > largest_fixed) --bits;
  if (std::round(std::ldexp(most, bits)) > largest_fixed)
    throw ArgumentError("SPZ holds means up to 8388607 from the origin, not " + std::to_string(most));
  return bits;
}

void check_values(const GaussianCloud& cloud) {
  const auto each = [&](const HostTensor& t, bool infinite, const char* name) {
    const auto values = t.as<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isnan(values[i]) || (!infinite && std::isinf(values[i])))
        throw ArgumentError("SPZ has no code for the " + std::string(name) + " of Gaussian " +
                            std::to_string(i / (values.size() / static_cast<std::size_t>(cloud.size()))) +
                            ", which are not finite");
  };
  each(cloud.means, false, "mean");
  each(cloud.log_scales, true, "scales");
  each(cloud.quaternions, false, "quaternion");
  each(cloud.opacity_logits, true, "opacity");
  each(cloud.sh, false, "harmonics");
}

void write_quaternion(const float* q, const Flips& flips, std::uint32_t version, std::uint8_t* out) {
  const double length = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
  double parts[4] = {0, 0, 0, 1};
  if (length > 0)
    for (std::size_t k = 0; k < 4; ++k) parts[k] = k == 3 ? q[0] / length : flips.quaternion(k) * q[k + 1] / length;
  if (version < 3) {
    for (std::size_t k = 0; k < 3; ++k) out[k] = nearest_byte(127.5 + (parts[3] < 0 ? -127.5 : 127.5) * parts[k]);
    return;
  }
  std::size_t largest = 0;
  for (std::size_t k = 1; k < 4; ++k)
    if (std::abs(parts[k]) > std::abs(parts[largest])) largest = k;
  auto word = static_cast<std::uint32_t>(largest);
  for (std::size_t k = 0; k < 4; ++k) {
    if (k == largest) continue;
    const auto size = static_cast<std::uint32_t>(std::lround(largest_part * std::abs(parts[k]) / std::sqrt(0.5)));
    word = word << 10 | std::uint32_t{(parts[k] < 0) != (parts[largest] < 0)} << 9 | std::min(size, largest_part);
  }
  std::memcpy(out, &word, 4);
}

/// To 8 bits, of which the lower ones beyond `bits` are rounded away; zero stays zero.
std::uint8_t harmonic_byte(float x, int bits) {
  const int bucket = 1 << (8 - bits);
  const int whole = static_cast<int>(std::round(std::clamp(x, -2.0f, 2.0f) * 128)) + 128;
  return static_cast<std::uint8_t>(std::clamp((whole + bucket / 2) / bucket * bucket, 0, 255));
}

void write_harmonics(const GaussianCloud& cloud, const SpzOptions& options, const Flips& flips, std::uint8_t* colour,
                     std::uint8_t* rest) {
  const std::vector<float> signs = harmonic_signs(flips, cloud.sh_degree);
  const float* sh = cloud.sh.as<float>().data();
  for (std::int64_t i = 0; i < cloud.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) *colour++ = nearest_byte(255 * (0.5 + colour_scale * *sh++));
    for (std::size_t j = 0; j < signs.size(); ++j)
      for (std::size_t k = 0; k < 3; ++k)
        *rest++ = harmonic_byte(signs[j] * *sh++, j < 3 ? options.degree_1_bits : options.other_bits);
  }
}

std::uint32_t checked_version(const GaussianCloud& cloud, const SpzOptions& options) {
  const int version = options.version.value_or(cloud.sh_degree > 3 ? 4 : 3);
  if (version < 2 || version > 4)
    throw ArgumentError("version " + std::to_string(version) + " of SPZ is not written: choose 2, 3 or 4");
  if (cloud.sh_degree > 3 && version < 4)
    throw ArgumentError("version " + std::to_string(version) +
                        " of SPZ has harmonics up to degree 3: choose version 4");
  for (const int bits : {options.degree_1_bits, options.other_bits})
    if (bits < 1 || bits > 8) throw ArgumentError("SPZ keeps 1 to 8 bits of harmonics, not " + std::to_string(bits));
  if (cloud.size() > std::numeric_limits<std::int32_t>::max())
    throw ArgumentError("SPZ holds at most 2147483647 Gaussians, not " + std::to_string(cloud.size()));
  return static_cast<std::uint32_t>(version);
}

}  // namespace

GaussianCloud parse_spz(std::string_view bytes, std::string file, SpzAxes axes) {
  const SpzContent c = unpack_spz(bytes, file);
  if (c.axes > plain_axes)
    throw FormatError(file, 0,
                      "the axes " + std::to_string(c.axes) + " of this file have y and z exchanged: not supported");
  const Flips flips = flips_from(c.axes != 0 ? c.axes : number(axes));
  GaussianCloud cloud = make_gaussian_cloud(c.count, c.sh_degree);
  cloud.antialiased = c.antialiased;
  if (c.count == 0) return cloud;
  read_means(c, flips, cloud.means.as_mutable<float>().data());
  float *scale = cloud.log_scales.as_mutable<float>().data(), *q = cloud.quaternions.as_mutable<float>().data(),
        *logit = cloud.opacity_logits.as_mutable<float>().data();
  for (std::size_t i = 0; i < std::size_t{3} * c.count; ++i)
    scale[i] = static_cast<float>(bytes_of(c, spz_scales)[i]) / 16 - 10;
  const auto logits = opacity_byte_logits();
  for (std::size_t i = 0; i < c.count; ++i) {
    logit[i] = logits[bytes_of(c, spz_opacities)[i]];
    const std::uint8_t* from = bytes_of(c, spz_quaternions) + c.width(spz_quaternions) * i;
    if (c.version < 3) read_first_three(from, flips, q + 4 * i);
    else read_smallest_three(from, flips, q + 4 * i);
  }
  read_harmonics(c, flips, cloud.sh.as_mutable<float>().data());
  return cloud;
}

GaussianCloud read_spz(const std::string& path, SpzAxes axes) {
  return parse_spz(MappedFile::open(path)->bytes(), path, axes);
}

void write_spz(const std::string& path, const GaussianCloud& cloud, const SpzOptions& options) {
  check(cloud);
  SpzContent c;
  c.version = checked_version(cloud, options);
  check_values(cloud);
  c.count = static_cast<std::uint32_t>(cloud.size());
  c.sh_degree = cloud.sh_degree;
  c.antialiased = cloud.antialiased;
  c.fractional_bits = fractional_bits_for(cloud);
  const auto array = [&](SpzArray a) {
    c.arrays[a].resize(c.width(a) * c.count);
    return reinterpret_cast<std::uint8_t*>(c.arrays[a].data());
  };
  const Flips flips = flips_from(number(options.axes));
  std::uint8_t* out = array(spz_means);
  for (std::size_t i = 0; i < std::size_t{3} * c.count; ++i) {
    const auto value = static_cast<std::uint32_t>(static_cast<std::int32_t>(
        std::round(std::ldexp(flips.axis[i % 3] * cloud.means.as<float>()[i], c.fractional_bits))));
    for (int k = 0; k < 3; ++k) *out++ = static_cast<std::uint8_t>(value >> (8 * k));
  }
  out = array(spz_scales);
  for (std::size_t i = 0; i < std::size_t{3} * c.count; ++i)
    out[i] = nearest_byte(16 * (cloud.log_scales.as<float>()[i] + 10.0));
  out = array(spz_opacities);
  for (std::size_t i = 0; i < c.count; ++i) out[i] = nearest_byte(255 * sigmoid(cloud.opacity_logits.as<float>()[i]));
  out = array(spz_quaternions);
  for (std::size_t i = 0; i < c.count; ++i)
    write_quaternion(cloud.quaternions.as<float>().data() + 4 * i, flips, c.version,
                     out + c.width(spz_quaternions) * i);
  write_harmonics(cloud, options, flips, array(spz_colours), array(spz_harmonics));

  PendingFile file(path);
  file.write(pack_spz(c));
  file.commit();
}

}  // namespace rlx::formats
