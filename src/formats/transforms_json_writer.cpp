#include <rlx/formats/transforms_json.hpp>
#include <rlx/ir/error.hpp>

#include <nlohmann/json.hpp>

#include "pending_file.hpp"

namespace rlx::formats {

namespace {

using nlohmann::ordered_json;

void add_camera(ordered_json& j, const Camera& c) {
  const Pinhole p = pinhole_of(c);
  const auto& k = c.parameters;
  const auto add = [&](const char* model, std::initializer_list<std::pair<const char*, double>> coefficients) {
    j["camera_model"] = model;
    j.update({{"w", c.width}, {"h", c.height}, {"fl_x", p.fx}, {"fl_y", p.fy}, {"cx", p.cx}, {"cy", p.cy}});
    for (const auto& [key, value] : coefficients) j[key] = value;
  };
  switch (c.model) {
    case CameraModel::simple_pinhole:
    case CameraModel::pinhole:
      return add("PINHOLE", {});
    case CameraModel::simple_radial:
      return add("OPENCV", {{"k1", k[3]}, {"k2", 0}, {"p1", 0}, {"p2", 0}});
    case CameraModel::radial:
      return add("OPENCV", {{"k1", k[3]}, {"k2", k[4]}, {"p1", 0}, {"p2", 0}});
    case CameraModel::opencv:
      return add("OPENCV", {{"k1", k[4]}, {"k2", k[5]}, {"p1", k[6]}, {"p2", k[7]}});
    case CameraModel::full_opencv:
      if (k[9] != 0 || k[10] != 0 || k[11] != 0)
        throw ArgumentError("camera " + std::to_string(c.id) +
                            ": transforms.json has no k4 to k6 of FULL_OPENCV; undistort the images first");
      return add("OPENCV", {{"k1", k[4]}, {"k2", k[5]}, {"p1", k[6]}, {"p2", k[7]}, {"k3", k[8]}});
    case CameraModel::opencv_fisheye:
      return add("OPENCV_FISHEYE", {{"k1", k[4]}, {"k2", k[5]}, {"k3", k[6]}, {"k4", k[7]}});
    case CameraModel::simple_radial_fisheye:
      return add("OPENCV_FISHEYE", {{"k1", k[3]}, {"k2", 0}, {"k3", 0}, {"k4", 0}});
    case CameraModel::radial_fisheye:
      return add("OPENCV_FISHEYE", {{"k1", k[3]}, {"k2", k[4]}, {"k3", 0}, {"k4", 0}});
  }
}

ordered_json camera_to_world(const PosedImage& image) {
  const auto w = world_to_camera(image);
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < 3; ++i) {
    const double centre = -(w[i] * w[3] + w[4 + i] * w[7] + w[8 + i] * w[11]);
    rows.push_back({w[i], -w[4 + i], -w[8 + i], centre});
  }
  rows.push_back({0.0, 0.0, 0.0, 1.0});
  return rows;
}

}  // namespace

void write_transforms_json(const std::string& path, const Reconstruction& r) {
  check(r);
  const bool one_camera = r.cameras.size() == 1;
  ordered_json root = ordered_json::object();
  if (one_camera) add_camera(root, r.cameras[0]);
  root["frames"] = ordered_json::array();
  for (const PosedImage& image : r.images) {
    ordered_json frame{{"file_path", image.name}};
    if (!one_camera) add_camera(frame, r.cameras[static_cast<std::size_t>(image.camera)]);
    frame["transform_matrix"] = camera_to_world(image);
    root["frames"].push_back(std::move(frame));
  }
  std::string text;
  try {
    text = root.dump(2) + "\n";
  } catch (const nlohmann::json::exception& e) {
    throw ArgumentError(std::string("the name of an image is not UTF-8: ") + e.what());
  }
  PendingFile out(path);
  out.write(text);
  out.commit();
}

}  // namespace rlx::formats
