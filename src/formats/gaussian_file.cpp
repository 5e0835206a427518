#include <rlx/formats/dot_splat.hpp>
#include <rlx/formats/gaussian_file.hpp>
#include <rlx/formats/ply.hpp>
#include <rlx/formats/spz.hpp>
#include <rlx/ir/error.hpp>

namespace rlx::formats {

namespace {

[[noreturn]] void unknown(const std::string& path) {
  throw ArgumentError(path + ": the name tells no format of Gaussians: .ply, .spz or .splat");
}

}  // namespace

GaussianCloud read_gaussians(const std::string& path) {
  if (path.ends_with(".ply")) return read_ply(path);
  if (path.ends_with(".spz")) return read_spz(path);
  if (path.ends_with(".splat")) return read_dot_splat(path);
  unknown(path);
}

void write_gaussians(const std::string& path, const GaussianCloud& cloud) {
  if (path.ends_with(".ply")) return write_ply(path, cloud);
  if (path.ends_with(".spz")) return write_spz(path, cloud);
  if (path.ends_with(".splat")) return write_dot_splat(path, cloud);
  unknown(path);
}

}  // namespace rlx::formats
