#include <rlx/formats/colmap.hpp>
#include <rlx/formats/transforms_json.hpp>

#include <cmath>

#include "lenses.hpp"

namespace rlx::formats::testing {

namespace {

void expect_near_poses(const Reconstruction& a, const Reconstruction& b, double tolerance) {
  ASSERT_EQ(a.images.size(), b.images.size());
  for (std::size_t i = 0; i < a.images.size(); ++i) {
    EXPECT_EQ(a.images[i].name, b.images[i].name);
    const auto x = world_to_camera(a.images[i]), y = world_to_camera(b.images[i]);
    for (std::size_t k = 0; k < 16; ++k) EXPECT_NEAR(x[k], y[k], tolerance) << i << " " << k;
  }
}

// numpy turned the poses of the COLMAP model into OpenGL's axes.
TEST(TransformsJson, PosesAreThoseOfTheColmapModel) {
  const Reconstruction r = read_transforms_json(splat_data("transforms.json"));
  expect_near_poses(r, read_colmap(splat_data("colmap_binary")), 1e-13);
  ASSERT_EQ(r.cameras.size(), 1u);
  EXPECT_EQ(r.cameras[0].model, CameraModel::opencv);
  EXPECT_EQ(r.cameras[0].parameters, example_camera(CameraModel::opencv).parameters);
  EXPECT_EQ(r.cameras[0].width, 640);
  EXPECT_NO_THROW(check(r));
}

constexpr const char* pose = R"("transform_matrix": [[1,0,0,1],[0,1,0,2],[0,0,1,3],[0,0,0,1]])";

std::string document(const std::string& keys, const std::string& frame_keys = "") {
  return "{" + keys + "\"frames\": [{\"file_path\": \"a.png\", " + frame_keys + pose + "}]}";
}

// At the origin of the picture an OpenGL camera without rotation looks along -z, with y up.
TEST(TransformsJson, Axes) {
  const PosedImage image = parse_transforms_json(document(R"("w": 4, "h": 4, "fl_x": 2,)")).images.at(0);
  const auto m = world_to_camera(image);
  // The point 5 in front, 1 above and 2 right of the camera at (1, 2, 3).
  const double p[] = {1 + 2, 2 + 1, 3 - 5, 1};
  const double wanted[] = {2, -1, 5};
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + m[4 * i + 3], wanted[i]);
}

TEST(TransformsJson, Intrinsics) {
  const auto camera = [](const std::string& keys, const std::string& frame_keys = "") {
    return parse_transforms_json(document(keys, frame_keys), "t.json").cameras.at(0);
  };
  using Parameters = std::vector<double>;
  EXPECT_EQ(camera(R"("w": 8, "h": 6, "fl_x": 2,)").parameters, (Parameters{2, 2, 4, 3}));
  EXPECT_EQ(camera(R"("w": 8, "h": 6, "fl_x": 2, "fl_y": 3, "cx": 5, "cy": 1,)").parameters, (Parameters{2, 3, 5, 1}));
  EXPECT_NEAR(camera(R"("w": 8, "h": 6, "camera_angle_x": 1.5707963267948966,)").parameters[0], 4, 1e-12);
  EXPECT_NEAR(camera(R"("w": 8, "h": 6, "fl_x": 1, "camera_angle_y": 1.5707963267948966,)").parameters[1], 3, 1e-12);
  EXPECT_EQ(camera(R"("w": 8, "h": 6, "fl_x": 2,)", R"("fl_x": 7, "h": 5,)").parameters, (Parameters{7, 7, 4, 2.5}));
  EXPECT_EQ(camera(R"("w": 8, "h": 6, "fl_x": 2, "k1": 0.5, "p2": 0.25,)").parameters,
            (Parameters{2, 2, 4, 3, 0.5, 0, 0, 0.25}));
  const Camera full = camera(R"("w": 8, "h": 6, "fl_x": 2, "k1": 0.5, "k3": 0.25,)");
  EXPECT_EQ(full.model, CameraModel::full_opencv);
  EXPECT_EQ(full.parameters, (Parameters{2, 2, 4, 3, 0.5, 0, 0, 0, 0.25, 0, 0, 0}));
  const Camera fisheye =
      camera(R"("camera_model": "OPENCV_FISHEYE", "w": 8, "h": 6, "fl_x": 2, "k1": 0.5, "k4": 0.25,)");
  EXPECT_EQ(fisheye.model, CameraModel::opencv_fisheye);
  EXPECT_EQ(fisheye.parameters, (Parameters{2, 2, 4, 3, 0.5, 0, 0, 0.25}));
  EXPECT_EQ(camera(R"("is_fisheye": true, "w": 8, "h": 6, "fl_x": 2,)").model, CameraModel::opencv_fisheye);
}

TEST(TransformsJson, SizesComeFromTheImages) {
  const TempFolder temp;
  write_png(temp / "a.png", HostTensor(DType::u8, {6, 8, 3}));
  std::string text = document(R"("camera_angle_x": 1.5707963267948966,)");
  text.replace(text.find("a.png"), 5, "./a");  // as the synthetic scenes name them
  put(temp / "transforms_train.json", text);
  const Reconstruction r = read_transforms_json(temp / "transforms_train.json");
  EXPECT_EQ(r.cameras.at(0).width, 8);
  EXPECT_EQ(r.cameras[0].height, 6);
  EXPECT_NEAR(r.cameras[0].parameters[0], 4, 1e-12);
  EXPECT_EQ(r.images.at(0).name, "./a.png");
  expect_error<FormatError>([&] { parse_transforms_json(text, "t.json"); }, "states no size");
  std::filesystem::remove(temp / "a.png");
  expect_error<FormatError>([&] { read_transforms_json(temp / "transforms_train.json"); }, "cannot open");
}

TEST(TransformsJson, RoundTrips) {
  const TempFolder temp;
  const Reconstruction model = read_colmap(splat_data("colmap_binary"));
  for (const bool one : {true, false}) {
    Reconstruction r = model;
    if (one) {
      r.cameras.resize(1);
      for (PosedImage& image : r.images) image.camera = 0;
    } else {
      r.cameras[6].parameters[9] = r.cameras[6].parameters[10] = r.cameras[6].parameters[11] = 0;
    }
    for (PosedImage& image : r.images) image.observations.clear();
    r.points = {};
    write_transforms_json(temp / "t.json", r);
    const Reconstruction back = read_transforms_json(temp / "t.json");
    expect_near_poses(back, r, 1e-14);
    EXPECT_EQ(back.cameras.size(), one ? 1u : 4u);
    for (std::size_t i = 0; i < r.images.size(); ++i) {
      const Camera &a = r.cameras[static_cast<std::size_t>(r.images[i].camera)],
                   &b = back.cameras[static_cast<std::size_t>(back.images[i].camera)];
      const Point2 x = Lens(a).pixel({0.2, -0.3}), y = Lens(b).pixel({0.2, -0.3});
      EXPECT_NEAR(x[0], y[0], 1e-12) << name(a.model);
      EXPECT_NEAR(x[1], y[1], 1e-12) << name(a.model);
    }
  }
  for (int m = 0; m < 9; ++m) {
    Reconstruction r;
    r.cameras = {example_camera(static_cast<CameraModel>(m))};
    r.images = {PosedImage{1, "a.png", 0, {1, 0, 0, 0}, {}, {}}};
    if (static_cast<CameraModel>(m) == CameraModel::full_opencv) {
      expect_error<ArgumentError>([&] { write_transforms_json(temp / "t.json", r); }, "has no k4 to k6");
      continue;
    }
    write_transforms_json(temp / "t.json", r);
    const Point2 x = Lens(r.cameras[0]).pixel({0.2, -0.3}),
                 y = Lens(read_transforms_json(temp / "t.json").cameras[0]).pixel({0.2, -0.3});
    EXPECT_NEAR(x[0], y[0], 1e-12) << m;
    EXPECT_NEAR(x[1], y[1], 1e-12) << m;
  }
  Reconstruction bad;
  bad.cameras = {example_camera(CameraModel::pinhole)};
  bad.images = {PosedImage{1, "\xff", 0, {1, 0, 0, 0}, {}, {}}};
  expect_error<ArgumentError>([&] { write_transforms_json(temp / "t.json", bad); }, "not UTF-8");
}

TEST(TransformsJson, Refusals) {
  const std::string size = R"("w": 8, "h": 6, "fl_x": 2,)";
  const auto with_pose = [&](const char* matrix) {
    return "{" + size + R"("frames": [{"file_path": "a", "transform_matrix": )" + matrix + "}]}";
  };
  const struct {
    std::string bytes;
    const char* says;
  } bad[] = {
      {"", "not JSON"},
      {"{\"frames\": [", "not JSON"},
      {"{\"frames\": [1e999]}", "not JSON"},
      {"[]", "the document must be an object"},
      {"{}", "frames must be an array"},
      {"{\"frames\": {}}", "frames must be an array"},
      {"{\"frames\": [3]}", "frames[0] must be an object"},
      {"{\"frames\": [{}]}", "frames[0] must have a string file_path"},
      {"{\"frames\": [{\"file_path\": 1}]}", "frames[0] must have a string file_path"},
      {"{\"frames\": [{\"file_path\": \"a\"}]}", "transform_matrix must have 4 rows, or 3"},
      {with_pose("[[1,0,0],[0,1,0],[0,0,1]]"), "must have 4 numbers a row"},
      {with_pose("[[1,0,0,\"x\"],[0,1,0,0],[0,0,1,0]]"), "must be a number"},
      {with_pose("[[2,0,0,0],[0,2,0,0],[0,0,2,0]]"), "is no rotation and translation"},
      {with_pose("[[0,0,0,0],[0,0,0,0],[0,0,0,0]]"), "is no rotation and translation"},
      {with_pose("[[-1,0,0,0],[0,1,0,0],[0,0,1,0]]"), "is a reflection"},
      {with_pose("[[0.8,0,0.6,1.7e308],[0,1,0,0],[-0.6,0,0.8,1.7e308]]"), "a translation beyond f64"},
      {document(""), "states no size"},
      {document(R"("w": 8, "h": 6,)"), "states no focal length"},
      {document(R"("w": 8.5, "h": 6, "fl_x": 1,)"), "must be whole numbers of pixels"},
      {document(R"("w": 8, "h": -6, "fl_x": 1,)"), "must be whole numbers of pixels"},
      {document(R"("w": 8, "h": 6, "fl_x": -1,)"), "a focal length must be positive"},
      {document(R"("w": 8, "h": 6, "fl_x": 1e-300,)"), "frames[0]: camera 1 (PINHOLE): its intrinsics are singular"},
      {document(R"("w": 8, "h": 6, "fl_x": "1",)"), "frames[0]: fl_x must be a number"},
      {document(R"("w": 8, "h": 6, "camera_angle_x": 4,)"), "camera_angle_x must be within 0 to pi"},
      {document(size + R"("camera_model": "EQUIRECTANGULAR",)"), "'EQUIRECTANGULAR' is not supported"},
      {document(size + R"("camera_model": 5,)"), "must be a string"},
      {document(size + R"("k4": 0.1,)"), "k4 of a lens that is no fisheye"},
      {document(size + R"("p1": 0.1, "is_fisheye": true,)"), "p1 and p2 for a fisheye"},
      {"{" + size + R"("frames": [{"file_path": "a", )" + pose + R"(}, {"file_path": "a", )" + pose + "}]}",
       "frames[1] has the file_path 'a' of another frame"},
  };
  for (const auto& c : bad) {
    expect_error<FormatError>([&] { parse_transforms_json(c.bytes, "t.json"); }, c.says, c.bytes);
    try {
      parse_transforms_json(c.bytes, "t.json");
    } catch (const FormatError& e) { EXPECT_LE(e.offset(), c.bytes.size()); }
  }
  EXPECT_EQ(parse_transforms_json("{\"frames\": []}").images.size(), 0u);
}

}  // namespace

}  // namespace rlx::formats::testing
