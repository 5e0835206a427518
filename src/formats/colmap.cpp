#include <rlx/formats/colmap.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <unordered_map>

#include "colmap_records.hpp"
#include "mapped_file.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

constexpr std::string_view colmap_models[] = {"SIMPLE_PINHOLE",
                                              "PINHOLE",
                                              "SIMPLE_RADIAL",
                                              "RADIAL",
                                              "OPENCV",
                                              "OPENCV_FISHEYE",
                                              "FULL_OPENCV",
                                              "FOV",
                                              "SIMPLE_RADIAL_FISHEYE",
                                              "RADIAL_FISHEYE",
                                              "THIN_PRISM_FISHEYE",
                                              "RAD_TAN_THIN_PRISM_FISHEYE"};

struct ModelFiles {
  std::string cameras, images, points3d;
};

ModelFiles files_of(const std::string& folder, ColmapEncoding encoding) {
  const std::string suffix = encoding == ColmapEncoding::binary ? ".bin" : ".txt",
                    prefix = folder.empty() ? "" : folder + "/";
  return {prefix + "cameras" + suffix, prefix + "images" + suffix, prefix + "points3D" + suffix};
}

template <class Id>
using Index = std::unordered_map<Id, std::size_t>;

/// Positions of ids; `offsets` are those of their records.
template <class Id>
Index<Id> index_of(const std::vector<Id>& ids, const std::vector<std::size_t>& offsets, const std::string& file,
                   const char* what) {
  Index<Id> index;
  index.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (!index.emplace(ids[i], i).second)
      throw FormatError(file, offsets[i], std::string(what) + " " + std::to_string(ids[i]) + " is there twice");
  return index;
}

template <class Id>
std::size_t find(const Index<Id>& index, Id id, const std::string& file, std::size_t offset, const char* what) {
  const auto found = index.find(id);
  if (found == index.end())
    throw FormatError(file, offset, "there is no " + std::string(what) + " " + std::to_string(id));
  return found->second;
}

template <class T>
HostTensor tensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  HostTensor t(dtype, std::move(shape));
  if (!values.empty()) std::memcpy(t.mutable_data(), values.data(), values.size() * sizeof(T));
  return t;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

void normalise(PosedImage& image, const std::string& file, std::size_t offset) {
  const auto fail = [&](const char* what) {
    throw FormatError(file, offset, "image " + in_quotes(image.name) + " has " + what);
  };
  const auto squares = [&] {
    double sum = 0;
    for (const double q : image.rotation) sum += q * q;
    return sum;
  };
  // What is of length 1 already stays as it is, so that it is written as it was read.
  if (!(std::abs(squares() - 1) <= 1e-15)) {
    double most = 0;
    for (const double q : image.rotation) most = std::max(most, std::isfinite(q) ? std::abs(q) : infinity);
    if (!(most > 0 && most < infinity)) fail("no rotation: its quaternion is zero or not finite");
    for (double& q : image.rotation) q /= most;  // Squares of what is very small or large would lose it.
    const double length = std::sqrt(squares());
    for (double& q : image.rotation) q /= length;
  }
  for (const double t : image.translation)
    if (!std::isfinite(t)) fail("a translation that is not finite");
}

Reconstruction link(ColmapRecords&& records, const ModelFiles& names) {
  Reconstruction& r = records.result;
  std::vector<std::uint32_t> camera_ids, image_ids;
  for (std::size_t i = 0; i < r.cameras.size(); ++i) {
    camera_ids.push_back(r.cameras[i].id);
    try {
      check(r.cameras[i]);
    } catch (const ArgumentError& e) { throw FormatError(names.cameras, records.camera_offsets[i], e.what()); }
  }
  for (const PosedImage& image : r.images) image_ids.push_back(image.id);
  const auto cameras = index_of(camera_ids, records.camera_offsets, names.cameras, "camera");
  const auto images = index_of(image_ids, records.image_offsets, names.images, "image");
  const auto points = index_of(r.points.ids, records.point_offsets, names.points3d, "point");
  std::unordered_map<std::string_view, std::size_t> image_names;

  for (std::size_t i = 0; i < r.images.size(); ++i) {
    PosedImage& image = r.images[i];
    const std::size_t at = records.image_offsets[i];
    if (!image_names.emplace(image.name, i).second)
      throw FormatError(names.images, at, "the image " + in_quotes(image.name) + " is there twice");
    image.camera = static_cast<std::int64_t>(find(cameras, records.image_cameras[i], names.images, at, "camera"));
    normalise(image, names.images, at);
    for (std::size_t k = 0; k < image.observations.size(); ++k)
      if (const std::uint64_t id = records.observed_points[i][k]; id != no_colmap_point)
        image.observations[k].point = static_cast<std::int64_t>(find(points, id, names.images, at, "point"));
  }
  for (std::size_t i = 0; i + 1 < r.points.track_offsets.size(); ++i)
    for (auto k = static_cast<std::size_t>(r.points.track_offsets[i]);
         k < static_cast<std::size_t>(r.points.track_offsets[i + 1]); ++k) {
      TrackElement& t = r.points.tracks[k];
      t.image = static_cast<std::uint32_t>(
          find(images, records.track_images[k], names.points3d, records.point_offsets[i], "image"));
      if (t.observation >= r.images[t.image].observations.size())
        throw FormatError(
            names.points3d, records.point_offsets[i],
            "image " + in_quotes(r.images[t.image].name) + " has no observation " + std::to_string(t.observation));
    }
  const auto n = static_cast<std::int64_t>(r.points.ids.size());
  r.points.positions = tensor(DType::f64, {n, 3}, records.positions);
  r.points.colours = tensor(DType::u8, {n, 3}, records.colours);
  r.points.errors = tensor(DType::f64, {n}, records.errors);
  return std::move(r);
}

}  // namespace

std::string_view colmap_model_name(int number) {
  if (number < 0 || number >= static_cast<int>(std::size(colmap_models))) return {};
  return colmap_models[number];
}

int colmap_model_number(CameraModel m) {
  return static_cast<int>(std::ranges::find(colmap_models, name(m)) - std::begin(colmap_models));
}

Reconstruction parse_colmap(const ColmapFiles& files, ColmapEncoding encoding, const std::string& folder) {
  const ModelFiles names = files_of(folder, encoding);
  ColmapRecords records;
  if (encoding == ColmapEncoding::binary) {
    parse_binary_cameras(files.cameras, names.cameras, records);
    parse_binary_images(files.images, names.images, records);
    parse_binary_points(files.points3d, names.points3d, records);
  } else {
    parse_text_cameras(files.cameras, names.cameras, records);
    parse_text_images(files.images, names.images, records);
    parse_text_points(files.points3d, names.points3d, records);
  }
  return link(std::move(records), names);
}

Reconstruction read_colmap(const std::string& folder) {
  std::error_code ignored;
  const bool binary = std::filesystem::exists(files_of(folder, ColmapEncoding::binary).cameras, ignored) ||
                      !std::filesystem::exists(files_of(folder, ColmapEncoding::text).cameras, ignored);
  const ColmapEncoding encoding = binary ? ColmapEncoding::binary : ColmapEncoding::text;
  const ModelFiles names = files_of(folder, encoding);
  const auto cameras = MappedFile::open(names.cameras), images = MappedFile::open(names.images),
             points = MappedFile::open(names.points3d);
  return parse_colmap({cameras->bytes(), images->bytes(), points->bytes()}, encoding, folder);
}

}  // namespace rlx::formats
