#include "ply_packed.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gaussian_codes.hpp"
#include "ply_body.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

constexpr std::int64_t chunk_rows = 256;

// Columns of a chunk's row here; the last six may be absent from the file.
enum Limit : std::size_t {
  min_x,
  max_x = 3,
  min_scale = 6,
  max_scale = 9,
  min_colour = 12,
  max_colour = 15,
  limits = 18
};
constexpr const char* limit_names[limits] = {
    "min_x",       "min_y",       "min_z",       "max_x", "max_y", "max_z", "min_scale_x", "min_scale_y", "min_scale_z",
    "max_scale_x", "max_scale_y", "max_scale_z", "min_r", "min_g", "min_b", "max_r",       "max_g",       "max_b"};

struct Packed {
  std::uint32_t position, rotation, scale, colour;
};
constexpr const char* packed_names[] = {"packed_position", "packed_rotation", "packed_scale", "packed_color"};

std::size_t packed_property(const PlyElement& e, const char* name, PlyType type, const std::string& file) {
  const auto found = e.find(name);
  if (!found || e.properties[*found].list || e.properties[*found].type != type)
    throw FormatError(file, e.offset,
                      "the packed layout needs a property " + in_quotes(name) + " of type " +
                          (type == PlyType::f32   ? "float"
                           : type == PlyType::u32 ? "uint"
                                                  : "uchar") +
                          " in element " + in_quotes(e.name));
  return *found;
}

/// The `bits` of `word` above `shift`, 0 to 1.
float unit(std::uint32_t word, int shift, int bits) {
  const std::uint32_t mask = (1u << bits) - 1;
  return static_cast<float>(word >> shift & mask) / static_cast<float>(mask);
}

float between(float low, float high, float t) { return low * (1 - t) + high * t; }

// 11, 10 and 11 bits.
void unpack_vector(std::uint32_t word, const float* low, const float* high, float* out) {
  out[0] = between(low[0], high[0], unit(word, 21, 11));
  out[1] = between(low[1], high[1], unit(word, 11, 10));
  out[2] = between(low[2], high[2], unit(word, 0, 11));
}

// The index of the largest component, then the three others in order, 10 bits each over -1/sqrt(2) to 1/sqrt(2).
void unpack_quaternion(std::uint32_t word, float* q) {
  const std::uint32_t largest = word >> 30;
  float squares = 0;
  int shift = 20;
  for (std::uint32_t k = 0; k < 4; ++k) {
    if (k == largest) continue;
    q[k] = (unit(word, shift, 10) - 0.5f) * std::sqrt(2.0f);
    squares += q[k] * q[k];
    shift -= 10;
  }
  q[largest] = std::sqrt(std::max(0.0f, 1 - squares));
}

void check_sh_element(const PlyElement& e, std::int64_t count, const std::string& file) {
  if (e.count != count)
    throw FormatError(file, e.offset,
                      "element 'sh' has " + counted(e.count, "row") + " for " + counted(count, "Gaussian"));
}

}  // namespace

GaussianCloud read_packed_ply(const PlyHeader& header, const PlyElement& vertex, std::string_view bytes,
                              const std::string& file) {
  const PlyElement* chunk = header.find("chunk");
  if (!chunk) throw FormatError(file, vertex.offset, "the packed layout needs an element 'chunk'");
  const std::int64_t n = vertex.count, chunks = n / chunk_rows + (n % chunk_rows != 0);
  if (chunk->count != chunks)
    throw FormatError(file, chunk->offset,
                      std::to_string(n) + " packed Gaussians need " + std::to_string(chunks) +
                          " chunks, the header says " + std::to_string(chunk->count));
  const bool colour_limits = chunk->find(limit_names[min_colour]).has_value();
  std::vector<PlyColumn<float>> limit_columns;
  for (std::size_t k = 0; k < (colour_limits ? limits : min_colour); ++k)
    limit_columns.push_back({packed_property(*chunk, limit_names[k], PlyType::f32, file), nullptr, limits});
  std::vector<PlyColumn<std::uint32_t>> packed_columns;
  for (const char* name : packed_names)
    packed_columns.push_back({packed_property(vertex, name, PlyType::u32, file), nullptr, 4});
  const PlyElement* sh = header.find("sh");
  int degree = 0;
  std::vector<PlyColumn<float>> sh_columns;
  if (sh) {
    check_sh_element(*sh, n, file);
    degree = ply_sh_degree(*sh, file);
    const std::int64_t rest = sh_coefficients(degree) - 1;
    for (std::int64_t i = 0; i < 3 * rest; ++i)
      sh_columns.push_back(
          {packed_property(*sh, ("f_rest_" + std::to_string(i)).c_str(), PlyType::u8, file), nullptr, 0});
  }
  if (chunk > &vertex || (sh && sh < &vertex))
    throw FormatError(file, chunk->offset, "the packed layout has its elements in the order chunk, vertex, sh");

  PlyBody body(bytes, file, header);
  GaussianCloud cloud = make_gaussian_cloud(n, degree);
  std::vector<float> limit(static_cast<std::size_t>(chunks) * limits);
  for (std::size_t k = 0; k < limit_columns.size(); ++k) limit_columns[k].out = limit.data() + k;
  body.read(*chunk, limit_columns);
  if (!colour_limits)
    for (std::size_t c = 0; c < limit.size(); c += limits)
      std::fill_n(limit.begin() + static_cast<std::ptrdiff_t>(c) + max_colour, 3, 1.0f);

  std::vector<Packed> packed(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < 4; ++k) packed_columns[k].out = reinterpret_cast<std::uint32_t*>(packed.data()) + k;
  body.read(vertex, packed_columns);

  const std::size_t width = static_cast<std::size_t>(3 * sh_coefficients(degree));
  if (n > 0) {
    float *mean = cloud.means.as_mutable<float>().data(), *scale = cloud.log_scales.as_mutable<float>().data(),
          *q = cloud.quaternions.as_mutable<float>().data(), *logit = cloud.opacity_logits.as_mutable<float>().data(),
          *colour = cloud.sh.as_mutable<float>().data();
    const auto logits = opacity_byte_logits();
    for (std::size_t i = 0; i < packed.size(); ++i) {
      const float* l = limit.data() + i / chunk_rows * limits;
      unpack_vector(packed[i].position, l + min_x, l + max_x, mean + 3 * i);
      unpack_vector(packed[i].scale, l + min_scale, l + max_scale, scale + 3 * i);
      unpack_quaternion(packed[i].rotation, q + 4 * i);
      for (std::size_t c = 0; c < 3; ++c) {
        const float value =
            between(l[min_colour + c], l[max_colour + c], unit(packed[i].colour, 24 - 8 * static_cast<int>(c), 8));
        colour[width * i + c] = (value - 0.5f) / static_cast<float>(sh_constant);
      }
      logit[i] = logits[packed[i].colour & 255];
    }
  }
  if (sh) {
    const std::size_t rest = width / 3 - 1;
    float* out = n > 0 ? cloud.sh.as_mutable<float>().data() : nullptr;
    for (std::size_t i = 0; i < sh_columns.size() && out; ++i) {
      sh_columns[i].out = out + 3 * (i % rest + 1) + i / rest;
      sh_columns[i].stride = width;
    }
    body.read(*sh, sh_columns);
    // A byte is the middle of a 256th of -4 to 4, the first and the last are the limits themselves.
    for (std::size_t i = 0; out && i < static_cast<std::size_t>(n); ++i)
      for (std::size_t k = 3; k < width; ++k) {
        float& x = out[width * i + k];
        x = x == 0 ? -4.0f : x == 255 ? 4.0f : (x + 0.5f) / 32 - 4;
      }
  }
  body.finish();
  return cloud;
}

}  // namespace rlx::formats
