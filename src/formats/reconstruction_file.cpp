#include <rlx/formats/cameras_json.hpp>
#include <rlx/formats/colmap.hpp>
#include <rlx/formats/reconstruction_file.hpp>
#include <rlx/formats/transforms_json.hpp>
#include <rlx/ir/error.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "mapped_file.hpp"

namespace rlx::formats {

namespace {

namespace fs = std::filesystem;

/// False too where it cannot be looked at: what is missed is then named.
bool path_exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool has_frames(const std::string& path) {
  const auto file = MappedFile::open(path);
  const auto root = nlohmann::json::parse(file->bytes(), nullptr, false);
  return root.is_object() && root.contains("frames");
}

}  // namespace

std::string locate_reconstruction(const std::string& path) {
  if (path.ends_with(".json")) return path;
  for (const fs::path& folder : {fs::path(path), fs::path(path) / "sparse/0", fs::path(path) / "sparse"})
    if (path_exists(folder / "cameras.bin") || path_exists(folder / "cameras.txt")) return folder.string();
  if (const fs::path file = fs::path(path) / "transforms.json"; path_exists(file)) return file.string();
  throw ArgumentError(
      path +
      " names no cameras: expected a transforms.json, a cameras.json, or a folder with a model of COLMAP "
      "(cameras.bin or cameras.txt, there or in sparse/0) or a transforms.json");
}

Reconstruction read_reconstruction(const std::string& path) {
  const std::string place = locate_reconstruction(path);
  if (!place.ends_with(".json")) return read_colmap(place);
  return has_frames(place) ? read_transforms_json(place) : read_cameras_json(place);
}

}  // namespace rlx::formats
