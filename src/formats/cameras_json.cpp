#include <rlx/formats/cameras_json.hpp>
#include <rlx/ir/error.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "json_document.hpp"
#include "mapped_file.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

using nlohmann::json;

class CamerasDocument : JsonDocument {
 public:
  CamerasDocument(std::string_view bytes, std::string file) : JsonDocument(bytes, std::move(file)) {}

  Reconstruction read() {
    if (root_.is_object()) entry(root_, "the document");
    else if (root_.is_array())
      for (std::size_t i = 0; i < root_.size(); ++i) entry(root_[i], "[" + std::to_string(i) + "]");
    else fail("the document", "must be an array of cameras");
    return std::move(result_);
  }

 private:
  const json& at(const json& e, const char* key, const std::string& place) const {
    const auto found = e.find(key);
    if (found == e.end()) fail(place, "has no " + in_quotes(key));
    return *found;
  }
  double number_at(const json& e, const char* key, const std::string& place, std::optional<double> otherwise = {}) {
    if (otherwise && !e.contains(key)) return *otherwise;
    return number(at(e, key, place), place + ": " + key);
  }
  std::int64_t pixels(const json& e, const char* key, const std::string& place) {
    const double x = number_at(e, key, place);
    if (!(x >= 1 && x <= std::numeric_limits<std::int32_t>::max() && x == std::floor(x)))
      fail(place + ": " + key, "must be a whole number of pixels");
    return static_cast<std::int64_t>(x);
  }
  std::array<double, 3> vector(const json& value, const std::string& place) const {
    if (!value.is_array() || value.size() != 3) fail(place, "must have 3 numbers");
    return {number(value[0], place), number(value[1], place), number(value[2], place)};
  }

  void entry(const json& e, const std::string& place) {
    if (!e.is_object()) fail(place, "must be an object");
    const std::size_t i = result_.images.size();
    Camera camera{.id = static_cast<std::uint32_t>(i + 1)};
    camera.width = pixels(e, "width", place);
    camera.height = pixels(e, "height", place);
    camera.parameters = {number_at(e, "fx", place), number_at(e, "fy", place),
                         number_at(e, "cx", place, static_cast<double>(camera.width) / 2),
                         number_at(e, "cy", place, static_cast<double>(camera.height) / 2)};
    try {
      check(camera);
    } catch (const ArgumentError& error) { fail(place + ":", error.what()); }

    PosedImage image{.id = camera.id, .name = std::to_string(i), .camera = static_cast<std::int64_t>(i)};
    if (const auto name = e.find("img_name"); name != e.end()) {
      if (!name->is_string()) fail(place + ": img_name", "must be a string");
      image.name = name->get<std::string>();
    }
    if (!names_.insert(image.name).second) fail(place, "has the name " + in_quotes(image.name) + " of another camera");
    const json& rows = at(e, "rotation", place);
    if (!rows.is_array() || rows.size() != 3) fail(place + ": rotation", "must have 3 rows");
    std::array<double, 9> rotation{};
    for (std::size_t r = 0; r < 3; ++r) {
      const auto row = vector(rows[r], place + ": rotation");
      for (std::size_t k = 0; k < 3; ++k) rotation[3 * r + k] = row[k];
    }
    set_pose(image, rotation, vector(at(e, "position", place), place + ": position"), place + ": rotation");
    result_.cameras.push_back(std::move(camera));
    result_.images.push_back(std::move(image));
  }

  Reconstruction result_{};
  std::set<std::string> names_{};
};

}  // namespace

Reconstruction parse_cameras_json(std::string_view bytes, std::string file) {
  return CamerasDocument(bytes, std::move(file)).read();
}

Reconstruction read_cameras_json(const std::string& path) {
  return parse_cameras_json(MappedFile::open(path)->bytes(), path);
}

}  // namespace rlx::formats
