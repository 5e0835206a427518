#include <rlx/formats/ply.hpp>

#include <charconv>
#include <string>
#include <vector>

#include "pending_file.hpp"

namespace rlx::formats {

namespace {

std::string header_text(const GaussianCloud& cloud, PlyEncoding encoding) {
  std::string h = "ply\nformat ";
  h += encoding == PlyEncoding::ascii ? "ascii" : "binary_little_endian";
  h += " 1.0\n";
  if (cloud.antialiased) h += "comment antialiased\n";
  h += "element vertex " + std::to_string(cloud.size()) + "\n";
  const auto add = [&](const std::string& name) { h += "property float " + name + "\n"; };
  for (const char* name : {"x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2"}) add(name);
  for (std::int64_t i = 0; i < 3 * (sh_coefficients(cloud.sh_degree) - 1); ++i) add("f_rest_" + std::to_string(i));
  for (const char* name : {"opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"}) add(name);
  return h + "end_header\n";
}

/// A row in the order of the header.
void fill_row(const GaussianCloud& cloud, std::size_t i, float* out) {
  const auto copy = [&](const HostTensor& t, std::size_t width) {
    const float* from = t.as<float>().data() + i * width;
    out = std::copy(from, from + width, out);
  };
  copy(cloud.means, 3);
  out = std::fill_n(out, 3, 0.0f);
  const auto coefficients = static_cast<std::size_t>(sh_coefficients(cloud.sh_degree));
  const float* sh = cloud.sh.as<float>().data() + i * 3 * coefficients;
  out = std::copy(sh, sh + 3, out);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t k = 1; k < coefficients; ++k) *out++ = sh[3 * k + c];
  copy(cloud.opacity_logits, 1);
  copy(cloud.log_scales, 3);
  copy(cloud.quaternions, 4);
}

std::string row_text(const std::vector<float>& row) {
  std::string text;
  for (const float x : row) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, x).ptr;  // the shortest that reads back
    text.append(digits, end) += ' ';
  }
  text.back() = '\n';
  return text;
}

}  // namespace

void write_ply(const std::string& path, const GaussianCloud& cloud, PlyEncoding encoding) {
  check(cloud);
  PendingFile out(path);
  out.write(header_text(cloud, encoding));
  std::vector<float> row(14 + 3 + 3 * static_cast<std::size_t>(sh_coefficients(cloud.sh_degree) - 1));
  for (std::size_t i = 0; i < static_cast<std::size_t>(cloud.size()); ++i) {
    fill_row(cloud, i, row.data());
    if (encoding == PlyEncoding::ascii) out.write(row_text(row));
    else out.write(row.data(), row.size() * sizeof(float));
  }
  out.commit();
}

}  // namespace rlx::formats
