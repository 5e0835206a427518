#include "json_document.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>

namespace rlx::formats {

using nlohmann::json;

JsonDocument::JsonDocument(std::string_view bytes, std::string file) : file_(std::move(file)) {
  try {
    root_ = json::parse(bytes);
  } catch (const json::parse_error& e) {
    throw FormatError(file_, std::min<std::size_t>(e.byte, bytes.size()), std::string("not JSON: ") + e.what());
  } catch (const json::out_of_range& e) { throw FormatError(file_, 0, std::string("not JSON: ") + e.what()); }
}

void JsonDocument::fail(const std::string& place, const std::string& what) const {
  throw FormatError(file_, 0, place + " " + what);
}

double JsonDocument::number(const json& value, const std::string& place) const {
  if (!value.is_number()) fail(place, "must be a number");
  const double x = value.get<double>();
  if (!std::isfinite(x)) fail(place, "must be finite");
  return x;
}

void JsonDocument::set_pose(PosedImage& image, const std::array<double, 9>& m, const std::array<double, 3>& centre,
                            const std::string& place) const {
  constexpr double rounding = 1e-3;  // of matrices that are printed with few digits
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      double dot = 0;
      for (std::size_t j = 0; j < 3; ++j) dot += m[3 * j + i] * m[3 * j + k];
      if (!(std::abs(dot - (i == k)) < rounding)) fail(place, "is no rotation and translation");
    }
  const double determinant =
      m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
  if (determinant < 0) fail(place, "is a reflection");
  image.rotation = rotation_quaternion({m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]});  // the way back
  const auto w = world_to_camera(image);  // of the rotation, with its rounding removed
  for (std::size_t i = 0; i < 3; ++i) {
    image.translation[i] = -(w[4 * i] * centre[0] + w[4 * i + 1] * centre[1] + w[4 * i + 2] * centre[2]);
    if (!std::isfinite(image.translation[i])) fail(place, "has a translation beyond f64");
  }
}

}  // namespace rlx::formats
