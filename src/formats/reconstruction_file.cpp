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

bool holds_colmap(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "cameras.bin", ignored) ||
         std::filesystem::exists(folder / "cameras.txt", ignored);
}

bool has_frames(const std::string& path) {
  const auto file = MappedFile::open(path);
  const auto root = nlohmann::json::parse(file->bytes(), nullptr, false);
  return root.is_object() && root.contains("frames");
}

}  // namespace

Reconstruction read_reconstruction(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    for (const char* below : {"", "sparse/0", "sparse"})
      if (const fs::path folder = fs::path(path) / below; holds_colmap(folder)) return read_colmap(folder.string());
    throw ArgumentError(path + ": neither the folder nor sparse/0 or sparse in it holds a COLMAP model");
  }
  if (!path.ends_with(".json"))
    throw ArgumentError(path + ": cameras are read from a COLMAP folder, a transforms.json or a cameras.json");
  return has_frames(path) ? read_transforms_json(path) : read_cameras_json(path);
}

}  // namespace rlx::formats
