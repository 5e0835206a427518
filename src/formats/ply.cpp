#include <rlx/formats/ply.hpp>
#include <rlx/ir/error.hpp>

#include <string>
#include <vector>

#include "mapped_file.hpp"
#include "ply_body.hpp"
#include "ply_packed.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

GaussianCloud read_plain(const PlyHeader& header, const PlyElement& e, std::string_view bytes,
                         const std::string& file) {
  const int degree = ply_sh_degree(e, file);
  std::vector<PlyColumn<float>> columns;
  const auto add = [&](const std::string& name) {
    columns.push_back({e.number(name, file, ": these are points, not 3D Gaussians"), nullptr, 0});
  };
  for (const char* name : {"x", "y", "z", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3",
                           "opacity", "f_dc_0", "f_dc_1", "f_dc_2"})
    add(name);
  const std::size_t rest = static_cast<std::size_t>(sh_coefficients(degree)) - 1;
  for (std::size_t i = 0; i < 3 * rest; ++i) add("f_rest_" + std::to_string(i));

  PlyBody body(bytes, file, header);
  GaussianCloud cloud = make_gaussian_cloud(e.count, degree);
  if (e.count > 0) {
    std::size_t next = 0;
    const auto place = [&](HostTensor& t, std::size_t width) {
      float* out = t.as_mutable<float>().data();
      for (std::size_t k = 0; k < width; ++k, ++next) {
        columns[next].out = out + k;
        columns[next].stride = width;
      }
    };
    place(cloud.means, 3);
    place(cloud.log_scales, 3);
    place(cloud.quaternions, 4);
    place(cloud.opacity_logits, 1);
    float* sh = cloud.sh.as_mutable<float>().data();
    const std::size_t stride = 3 * (rest + 1);
    for (std::size_t c = 0; c < 3; ++c, ++next) columns[next] = {columns[next].property, sh + c, stride};
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 1; k <= rest; ++k, ++next) columns[next] = {columns[next].property, sh + 3 * k + c, stride};
  }
  body.read(e, columns);
  body.finish();
  return cloud;
}

}  // namespace

int ply_sh_degree(const PlyElement& e, const std::string& file) {
  std::size_t rest = 0;
  for (const PlyProperty& p : e.properties) rest += p.name.starts_with("f_rest_");
  for (int degree = 0; degree <= highest_sh_degree; ++degree)
    if (rest == static_cast<std::size_t>(3 * (sh_coefficients(degree) - 1))) return degree;
  throw FormatError(file, e.offset,
                    "element " + in_quotes(e.name) + " has " + std::to_string(rest) +
                        " properties f_rest_*, expected 0, 9, 24, 45 or 72");
}

GaussianCloud parse_ply(std::string_view bytes, std::string file) {
  const PlyHeader header = parse_ply_header(bytes, file);
  const PlyElement& vertex = header.element("vertex", file);
  GaussianCloud cloud = vertex.find("packed_position") ? read_packed_ply(header, vertex, bytes, file)
                                                       : read_plain(header, vertex, bytes, file);
  cloud.antialiased = header.antialiased;
  return cloud;
}

GaussianCloud read_ply(const std::string& path) { return parse_ply(MappedFile::open(path)->bytes(), path); }

}  // namespace rlx::formats
