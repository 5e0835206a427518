#include <rlx/formats/cameras_json.hpp>
#include <rlx/formats/colmap.hpp>
#include <rlx/formats/reconstruction_file.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "lenses.hpp"

namespace rlx::formats::testing {
namespace {

using nlohmann::json;

json entry() {
  return {{"id", 7},
          {"img_name", "a.png"},
          {"width", 640},
          {"height", 480},
          {"position", {1, 2, 3}},
          {"rotation", {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
          {"fx", 500},
          {"fy", 510}};
}

// The definition: X_world = rotation X_camera + position.
TEST(CamerasJson, PosesAreFromTheCameraToTheWorld) {
  json turned = entry();
  turned["img_name"] = "b.png";
  turned["rotation"] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};  // the camera's z is the world's x
  turned["cx"] = 300.5;
  const Reconstruction r = parse_cameras_json(json::array({entry(), turned}).dump());
  EXPECT_NO_THROW(check(r));
  ASSERT_EQ(r.images.size(), 2u);
  EXPECT_EQ(r.images[0].translation, (std::array<double, 3>{-1, -2, -3}));
  EXPECT_EQ(r.cameras[0].parameters, (std::vector<double>{500, 510, 320, 240}));
  EXPECT_EQ(r.cameras[1].parameters[2], 300.5);
  EXPECT_EQ(r.images[1].name, "b.png");
  const auto w = world_to_camera(r.images[1]);
  const double point[] = {11, 2, 3};  // 10 along the world's x from the camera
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(w[4 * i] * point[0] + w[4 * i + 1] * point[1] + w[4 * i + 2] * point[2] + w[4 * i + 3], i == 2 ? 10 : 0,
                1e-14);
}

TEST(CamerasJson, OneObjectAndNoNames) {
  json bare = entry();
  bare.erase("img_name");
  EXPECT_EQ(parse_cameras_json(bare.dump()).images.at(0).name, "0");
  EXPECT_EQ(parse_cameras_json("[]").images.size(), 0u);
}

TEST(CamerasJson, Refusals) {
  const auto refused = [](const std::string& text, const char* says) {
    expect_error<FormatError>([&] { parse_cameras_json(text, "c.json"); }, says);
  };
  const auto with = [](const char* key, const json& value) {
    json e = entry();
    if (value.is_null()) e.erase(key);
    else e[key] = value;
    return json::array({e}).dump();
  };
  refused("[", "not JSON");
  refused("3", "the document must be an array of cameras");
  refused("[3]", "[0] must be an object");
  for (const char* key : {"width", "height", "fx", "fy", "position", "rotation"})
    refused(with(key, nullptr), (std::string("[0] has no '") + key + "'").c_str());
  refused(with("width", 0.5), "[0]: width must be a whole number of pixels");
  refused(with("fx", 0), "focal");
  refused(with("fx", 1e-300), "[0]: camera 1 (PINHOLE): its intrinsics are singular");
  refused(with("fx", "long"), "[0]: fx must be a number");
  refused(with("img_name", 3), "[0]: img_name must be a string");
  refused(with("position", {1, 2}), "[0]: position must have 3 numbers");
  refused(with("rotation", {1, 2, 3}), "[0]: rotation must have 3 numbers");
  refused(with("rotation", {{1, 0, 0}, {0, 1, 0}, {0, 0, 2}}), "is no rotation");
  refused(with("rotation", {{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}), "is a reflection");
  refused(json::array({entry(), entry()}).dump(), "has the name 'a.png' of another camera");
}

TEST(ReconstructionFile, TellsTheFormatByWhatIsThere) {
  const TempFolder temp;
  put(temp / "cameras.json", entry().dump());
  EXPECT_EQ(read_reconstruction(temp / "cameras.json").images.size(), 1u);
  const std::size_t images = read_colmap(splat_data("colmap_binary")).images.size();
  EXPECT_EQ(read_reconstruction(splat_data("colmap_binary")).images.size(), images);
  EXPECT_EQ(read_reconstruction(splat_data("transforms.json")).images.size(), images);
  write_colmap(temp / "project/sparse/0", read_colmap(splat_data("colmap_binary")), ColmapEncoding::text);
  EXPECT_EQ(read_reconstruction(temp / "project").images.size(), images);
  EXPECT_EQ(locate_reconstruction(temp / "project"), temp / "project/sparse/0");
  std::filesystem::create_directories(temp / "nerf");
  std::filesystem::copy_file(splat_data("transforms.json"), temp / "nerf/transforms.json");
  EXPECT_EQ(locate_reconstruction(temp / "nerf"), temp / "nerf/transforms.json");
  EXPECT_EQ(read_reconstruction(temp / "nerf").images.size(), images);
  std::filesystem::create_directories(temp / "empty");
  for (const char* name : {"empty", "x.txt"})
    expect_error<ArgumentError>([&] { read_reconstruction(temp / name); }, "names no cameras: expected");
  expect_error<FormatError>([&] { read_reconstruction(temp / "x.json"); }, "cannot open");
}

}  // namespace
}  // namespace rlx::formats::testing
