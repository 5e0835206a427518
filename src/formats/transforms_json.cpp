#include <rlx/formats/transforms_json.hpp>
#include <rlx/ir/error.hpp>

#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <set>

#include "json_document.hpp"
#include "mapped_file.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

using nlohmann::json;

class TransformsDocument : JsonDocument {
 public:
  TransformsDocument(std::string_view bytes, std::string file, const ImageHeaders& headers)
      : JsonDocument(bytes, std::move(file)), headers_(headers) {
    if (!root_.is_object()) fail("the document", "must be an object");
  }

  Reconstruction read() {
    const auto frames = root_.find("frames");
    if (frames == root_.end() || !frames->is_array()) fail("frames", "must be an array of frames");
    for (std::size_t i = 0; i < frames->size(); ++i) frame((*frames)[i], "frames[" + std::to_string(i) + "]");
    return std::move(result_);
  }

 private:
  /// Of the frame, else of the document.
  const json* find(const json& frame, const char* key) const {
    for (const json* in : {&frame, &root_})
      if (const auto found = in->find(key); found != in->end() && !found->is_null()) return &*found;
    return nullptr;
  }
  using JsonDocument::number;
  std::optional<double> number(const json& frame, const char* key, const std::string& place) const {
    const json* value = find(frame, key);
    if (!value) return std::nullopt;
    return number(*value, place + ": " + key);
  }

  void frame(const json& f, const std::string& place) {
    if (!f.is_object()) fail(place, "must be an object");
    PosedImage image;
    const auto path = f.find("file_path");
    if (path == f.end() || !path->is_string()) fail(place, "must have a string file_path");
    image.name = path->get<std::string>();
    if (!names_.insert(image.name).second)
      fail(place, "has the file_path " + in_quotes(image.name) + " of another frame");
    image.id = static_cast<std::uint32_t>(result_.images.size()) + 1;
    pose(f, place + ": transform_matrix", image);
    image.camera = camera(f, place, image.name);
    result_.images.push_back(std::move(image));
  }

  void pose(const json& f, const std::string& place, PosedImage& image) const {
    const auto matrix = f.find("transform_matrix");
    if (matrix == f.end() || !matrix->is_array() || (matrix->size() != 4 && matrix->size() != 3))
      fail(place, "must have 4 rows, or 3");
    std::array<double, 9> rotation{};
    std::array<double, 3> centre{};
    for (std::size_t i = 0; i < 3; ++i) {
      const json& row = (*matrix)[i];
      if (!row.is_array() || row.size() != 4) fail(place, "must have 4 numbers a row");
      // y and z of the camera are ours the other way.
      for (std::size_t k = 0; k < 3; ++k) rotation[3 * i + k] = (k == 0 ? 1 : -1) * number(row[k], place);
      centre[i] = number(row[3], place);
    }
    set_pose(image, rotation, centre, place);
  }

  bool fisheye(const json& f, const std::string& place) const {
    if (const json* model = find(f, "camera_model")) {
      if (!model->is_string()) fail(place + ": camera_model", "must be a string");
      const std::string name = model->get<std::string>();
      if (name == "OPENCV_FISHEYE") return true;
      for (const char* known : {"OPENCV", "PINHOLE", "SIMPLE_PINHOLE", "SIMPLE_RADIAL", "RADIAL"})
        if (name == known) return false;
      fail(place + ": camera_model", in_quotes(name) + " is not supported");
    }
    const json* flag = find(f, "is_fisheye");
    return flag && flag->is_boolean() && flag->get<bool>();
  }

  void size(const json& f, const std::string& place, const std::string& name, Camera& c) const {
    const auto w = number(f, "w", place), h = number(f, "h", place);
    if (w && h) {
      for (const double x : {*w, *h})
        if (!(x >= 1 && x <= std::numeric_limits<std::int32_t>::max() && x == std::floor(x)))
          fail(place + ": w, h", "must be whole numbers of pixels");
      c.width = static_cast<std::int64_t>(*w);
      c.height = static_cast<std::int64_t>(*h);
      return;
    }
    if (!headers_) fail(place, "states no size: w and h are missing");
    const ImageHeader header = headers_(name);
    c.width = header.width;
    c.height = header.height;
  }

  std::int64_t camera(const json& f, const std::string& place, const std::string& name) {
    Camera c;
    size(f, place, name, c);
    auto fx = number(f, "fl_x", place), fy = number(f, "fl_y", place);
    const auto from_angle = [&](const char* key, std::int64_t pixels) -> std::optional<double> {
      const auto angle = number(f, key, place);
      if (!angle) return std::nullopt;
      if (!(*angle > 0 && *angle < std::numbers::pi)) fail(place + ": " + key, "must be within 0 to pi");
      return static_cast<double>(pixels) / 2 / std::tan(*angle / 2);
    };
    if (!fx) fx = from_angle("camera_angle_x", c.width);
    if (!fy) fy = from_angle("camera_angle_y", c.height);
    if (!fx) fx = fy;
    if (!fy) fy = fx;
    if (!fx) fail(place, "states no focal length: neither fl_x nor camera_angle_x");
    c.parameters = {*fx, *fy, number(f, "cx", place).value_or(static_cast<double>(c.width) / 2),
                    number(f, "cy", place).value_or(static_cast<double>(c.height) / 2)};
    const auto coefficient = [&](const char* key) { return number(f, key, place).value_or(0); };
    const double k1 = coefficient("k1"), k2 = coefficient("k2"), k3 = coefficient("k3"), k4 = coefficient("k4"),
                 p1 = coefficient("p1"), p2 = coefficient("p2");
    if (fisheye(f, place)) {
      if (p1 != 0 || p2 != 0) fail(place, "has p1 and p2 for a fisheye lens");
      c.model = CameraModel::opencv_fisheye;
      c.parameters.insert(c.parameters.end(), {k1, k2, k3, k4});
    } else if (k4 != 0) {
      fail(place + ": k4", "of a lens that is no fisheye is not supported");
    } else if (k3 != 0) {
      c.model = CameraModel::full_opencv;
      c.parameters.insert(c.parameters.end(), {k1, k2, p1, p2, k3, 0, 0, 0});
    } else if (k1 != 0 || k2 != 0 || p1 != 0 || p2 != 0) {
      c.model = CameraModel::opencv;
      c.parameters.insert(c.parameters.end(), {k1, k2, p1, p2});
    }
    return number_of(std::move(c), place);
  }

  /// Of the camera that is the same, or of this one when it is new.
  std::int64_t number_of(Camera c, const std::string& place) {
    std::vector<double> key = c.parameters;
    key.insert(key.end(), {static_cast<double>(c.model), static_cast<double>(c.width), static_cast<double>(c.height)});
    const auto [at, added] = cameras_.emplace(std::move(key), static_cast<std::int64_t>(result_.cameras.size()));
    if (added) {
      c.id = static_cast<std::uint32_t>(result_.cameras.size()) + 1;
      try {
        check(c);
      } catch (const ArgumentError& e) { fail(place + ":", e.what()); }
      result_.cameras.push_back(std::move(c));
    }
    return at->second;
  }

  const ImageHeaders& headers_;
  Reconstruction result_{};
  std::set<std::string> names_{};
  std::map<std::vector<double>, std::int64_t> cameras_{};
};

}  // namespace

Reconstruction parse_transforms_json(std::string_view bytes, std::string file, const ImageHeaders& headers) {
  return TransformsDocument(bytes, std::move(file), headers).read();
}

Reconstruction read_transforms_json(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path();
  const auto found = [&](const std::string& name) {
    std::error_code ignored;
    for (const char* suffix : {"", ".png", ".jpg", ".jpeg"})
      if (fs::is_regular_file(folder / (name + suffix), ignored)) return name + suffix;
    return name;
  };
  Reconstruction r = parse_transforms_json(MappedFile::open(path)->bytes(), path, [&](const std::string& name) {
    return read_image_header((folder / found(name)).string());
  });
  for (PosedImage& image : r.images) image.name = found(image.name);
  return r;
}

}  // namespace rlx::formats
