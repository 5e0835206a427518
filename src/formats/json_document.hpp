// A JSON file whose errors name the place in the document; what the formats of cameras share.
#pragma once
#include <rlx/formats/reconstruction.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace rlx::formats {

class JsonDocument {
 protected:
  /// Throws FormatError with the offset of what is no JSON.
  JsonDocument(std::string_view bytes, std::string file);

  [[noreturn]] void fail(const std::string& place, const std::string& what) const;
  /// A finite number.
  double number(const nlohmann::json& value, const std::string& place) const;
  /// Of a row-major rotation from the camera's axes, x right, y down, z forward, to the world, and the camera's place.
  /// Fails where the matrix is no rotation within 1e-3.
  void set_pose(PosedImage& image, const std::array<double, 9>& rotation, const std::array<double, 3>& centre,
                const std::string& place) const;

  std::string file_;
  nlohmann::json root_{};
};

}  // namespace rlx::formats
