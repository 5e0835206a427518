#include <rlx/formats/ply_points.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mapped_file.hpp"
#include "ply_body.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

using ColourNames = std::array<const char*, 3>;

/// Red, green and blue, if there are such.
std::optional<std::array<std::size_t, 3>> colours_of(const PlyElement& e, const std::string& file) {
  for (const ColourNames& names : {ColourNames{"red", "green", "blue"}, ColourNames{"r", "g", "b"}})
    if (e.find(names[0]))
      return std::array{e.number(names[0], file), e.number(names[1], file), e.number(names[2], file)};
  return std::nullopt;
}

}  // namespace

bool is_ply_of_points(const std::string& path) {
  const auto bytes = MappedFile::open(path);
  const PlyHeader header = parse_ply_header(bytes->bytes(), path);
  const PlyElement* e = header.find("vertex");
  return e && e->find("x") && e->find("y") && e->find("z") && !e->find("scale_0") && !e->find("packed_position");
}

SparsePoints parse_ply_points(std::string_view bytes, std::string file) {
  const PlyHeader header = parse_ply_header(bytes, file);
  const PlyElement& e = header.element("vertex", file);
  std::vector<PlyColumn<float>> columns;
  for (const char* name : {"x", "y", "z"}) columns.push_back({e.number(name, file), nullptr, 6});
  const auto colours = colours_of(e, file);
  if (colours)
    for (const std::size_t property : *colours) columns.push_back({property, nullptr, 6});

  PlyBody body(bytes, file, header);  // From here on the file has as many rows as it says.
  const auto n = static_cast<std::size_t>(e.count);
  HostTensor rows(DType::f32, {e.count, 6});
  const auto values = n > 0 ? rows.as_mutable<float>() : std::span<float>();
  if (n > 0)
    for (std::size_t k = 0; k < columns.size(); ++k) columns[k].out = values.data() + k;
  body.read(e, columns);
  body.finish();

  SparsePoints p;
  p.positions = HostTensor(DType::f64, {e.count, 3});
  p.colours = HostTensor(DType::u8, {e.count, 3});
  p.errors = HostTensor(DType::f64, {e.count});
  p.track_offsets.assign(n + 1, 0);
  p.ids.resize(n);
  std::iota(p.ids.begin(), p.ids.end(), 1);
  if (n == 0) return p;
  const auto positions = p.positions.as_mutable<double>();
  const auto bytes_out = p.colours.as_mutable<std::uint8_t>();
  for (std::size_t k = 0; k < 3; ++k) {
    const PlyType type = colours ? e.properties[(*colours)[k]].type : PlyType::u8;
    const float most = type == PlyType::f32 || type == PlyType::f64 ? 255.0f : 1.0f;
    for (std::size_t i = 0; i < n; ++i) {
      positions[3 * i + k] = values[6 * i + k];
      const float level = colours ? std::round(most * values[6 * i + 3 + k]) : 128.0f;
      bytes_out[3 * i + k] = static_cast<std::uint8_t>(level > 0 ? std::min(level, 255.0f) : 0);
    }
  }
  return p;
}

SparsePoints read_ply_points(const std::string& path) {
  return parse_ply_points(MappedFile::open(path)->bytes(), path);
}

}  // namespace rlx::formats
