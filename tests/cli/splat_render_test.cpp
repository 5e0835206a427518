// rlx splat render and capture: cameras by every way of giving them, images, and what is refused.
#include "program.hpp"

#include <rlx/formats/colmap.hpp>
#include <rlx/formats/gaussian_file.hpp>
#include <rlx/formats/image.hpp>
#include <rlx/formats/npy.hpp>
#include <rlx/formats/transforms_json.hpp>
#include <rlx/formats/undistort.hpp>
#include <rlx/splat/renderer.hpp>

#include <cmath>
#include <iterator>
#include <set>

namespace rlx::cli::testing {
namespace {

Outcome draws(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"splat", "render"});
  const Outcome o = rlx(arguments);
  EXPECT_EQ(o.status, 0) << o.err;
  return o;
}

/// Two Gaussians: a red one before a green one, at 1 and 2 from the origin along z.
std::string two_gaussians(const TempFolder& folder) {
  formats::GaussianCloud c = formats::make_gaussian_cloud(2, 0);
  for (std::int64_t i = 0; i < 2; ++i) {
    c.means.set_f64(3 * i + 2, static_cast<double>(i + 1));
    c.quaternions.set_f64(4 * i, 1);
    c.opacity_logits.set_f64(i, 20);
    for (std::int64_t k = 0; k < 3; ++k) {
      c.log_scales.set_f64(3 * i + k, std::log(i == 0 ? 0.05 : 0.5));
      c.sh.set_f64(3 * i + k, (k == i ? 0.5 : -0.5) / 0.28209479177387814);
    }
  }
  const std::string path = folder / "two.ply";
  formats::write_gaussians(path, c);
  return path;
}

TEST(SplatRender, LookAtColoursAndDepth) {
  const TempFolder folder;
  const std::string scene = two_gaussians(folder);
  const auto j = draws({scene, "-o", folder / "a.png", "--eye", "0,0,0", "--target", "0,0,1", "--size", "41x31",
                        "--fov", "70", "--background", "0,0,1", "--depth", folder / "d.png", "--json"})
                     .json();
  EXPECT_EQ(j["gaussians"], 2);
  EXPECT_EQ(j["images"].size(), 1u);
  EXPECT_EQ(j["images"][0]["width"], 41);
  EXPECT_GT(j["images"][0]["seconds"], 0);
  const HostTensor image = formats::read_image(folder / "a.png");
  ASSERT_EQ(image.shape(), (std::vector<std::int64_t>{31, 41, 3}));
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t k) { return image.get_i64((y * 41 + x) * 3 + k); };
  EXPECT_GE(at(20, 15, 0), 254);  // The nearer one hides the other, but for what the cap of alpha at 0.999 leaves.
  EXPECT_LE(at(20, 15, 1), 1);
  EXPECT_GE(at(14, 15, 1), 150);  // Beside it the other one is seen.
  EXPECT_EQ(at(0, 0, 2), 255);    // The background.
  const HostTensor depth = formats::read_image(folder / "d.png");
  ASSERT_EQ(depth.dtype(), DType::u16);
  EXPECT_NEAR(depth.get_f64(15 * 41 + 20), 1000, 2);
  EXPECT_NEAR(depth.get_f64(15 * 41 + 14), 2000, 20);
  EXPECT_EQ(depth.get_f64(0), 0);

  draws({scene, "-o", folder / "a.npy", "--eye", "0,0,0", "--target", "0,0,1", "--size", "41x31", "--fov", "70",
         "--background", "0,0,1", "--depth", folder / "d.npy"});
  const HostTensor floats = formats::read_npy(folder / "a.npy"), metres = formats::read_npy(folder / "d.npy");
  for (std::int64_t i = 0; i < image.numel(); ++i) EXPECT_NEAR(floats.get_f64(i) * 255, image.get_f64(i), 0.5001);
  EXPECT_NEAR(metres.get_f64(15 * 41 + 20), 1, 2e-3);
}

// The same cameras from three formats draw the same images; undistorted cameras are those of our own reader.
TEST(SplatRender, CamerasOfFiles) {
  const TempFolder folder;
  ASSERT_EQ(rlx({"splat", "capture", "--random", "60", "-o", folder / "c", "--views", "3", "--size", "40x30", "--json"})
                .status,
            0);
  const std::string scene = folder / "c/scene.ply";
  const formats::Reconstruction r = formats::read_colmap(folder / "c/sparse/0");
  ASSERT_EQ(r.images.size(), 3u);
  formats::write_transforms_json(folder / "transforms.json", r);
  const HostTensor taken = formats::read_image(folder / "c/images/0001.png");
  draws({scene, "-o", folder / "a.png", "--camera", folder / "c", "--image", "0001.png"});
  EXPECT_TRUE(formats::read_image(folder / "a.png").identical(taken));
  draws({scene, "-o", folder / "b.png", "--camera", folder / "transforms.json", "--image", "1"});
  const HostTensor again = formats::read_image(folder / "b.png");
  for (std::int64_t i = 0; i < taken.numel(); ++i)  // The pose's rounding on its way through the text.
    EXPECT_NEAR(again.get_f64(i), taken.get_f64(i), 1);
  const auto j = draws({scene, "-o", folder / "path.png", "--path", folder / "c", "--json"}).json();
  ASSERT_EQ(j["images"].size(), 3u);
  EXPECT_EQ(j["images"][1]["camera"], "0001.png");
  EXPECT_TRUE(formats::read_image(folder / "path_0001.png").identical(taken));
  // Another size takes the same rays.
  draws({scene, "-o", folder / "small.png", "--camera", folder / "c", "--image", "0001.png", "--size", "20x15"});
  EXPECT_EQ(formats::read_image(folder / "small.png").shape()[1], 20);
}

// Where a Gaussian appears is what the lens makes of its ray, in closed form.
TEST(SplatRender, LensesBendRaysAsTheyShould) {
  const TempFolder folder;
  formats::GaussianCloud c = formats::make_gaussian_cloud(1, 0);
  const double x = 0.9, z = 1.5;
  c.means.set_f64(0, x), c.means.set_f64(2, z);
  c.quaternions.set_f64(0, 1);
  c.opacity_logits.set_f64(0, 5);
  for (std::int64_t k = 0; k < 3; ++k) c.log_scales.set_f64(k, std::log(0.01)), c.sh.set_f64(k, 1);
  formats::write_gaussians(folder / "one.ply", c);
  const double fov = 100 * M_PI / 180, pinhole = 50 / std::tan(fov / 2);
  const struct {
    const char* name;
    double column;  // of its middle, in pixels from the centre of the image
  } lenses[] = {{"pinhole", pinhole * x / z},
                {"orthographic", pinhole / 2 * x},  // The target is 2 away.
                {"fisheye", 100 / fov * std::atan(x / z)}};
  for (const auto& lens : lenses) {
    const auto j = draws({folder / "one.ply", "-o", folder / "x.npy", "--eye", "0,0,0", "--target", "0,0,2", "--fov",
                          "100", "--size", "100x40", "--lens", lens.name, "--json"})
                       .json();
    EXPECT_EQ(j["lens"], lens.name);
    const HostTensor image = formats::read_npy(folder / "x.npy");
    double sum = 0, moment = 0;
    for (std::int64_t p = 0; p < 40 * 100; ++p) {
      sum += image.get_f64(3 * p);
      moment += image.get_f64(3 * p) * (static_cast<double>(p % 100) + 0.5 - 50);
    }
    EXPECT_NEAR(moment / sum, lens.column, 0.05) << lens.name;  // Cut at alpha 1 / 255, which is not quite symmetric.
  }
}

// A photograph's lens is drawn without its distortion, from the camera that undistorts it; a fisheye also as one.
TEST(SplatRender, LensesOfFiles) {
  const TempFolder folder;
  const std::string scene = two_gaussians(folder);
  formats::Reconstruction r;
  r.cameras = {{1, formats::CameraModel::opencv, 64, 48, {50, 51, 32, 24, -0.2, 0.05, 0.002, -0.003}},
               {2, formats::CameraModel::opencv_fisheye, 64, 48, {40, 40, 32, 24, 0.03, -0.01, 0.004, -0.001}}};
  for (std::uint32_t i = 0; i < 2; ++i) {
    r.images.push_back({.id = i + 1, .name = i == 0 ? "bent.png" : "wide.png", .camera = i});
    r.images.back().translation = {0.1, -0.05, 0.2};
  }
  formats::write_colmap(folder / "bent", r);
  for (formats::Camera& c : r.cameras) c = formats::undistorted_camera(c);
  formats::write_colmap(folder / "straight", r);
  for (const char* name : {"bent.png", "wide.png"}) {
    draws({scene, "-o", folder / "a.npy", "--camera", folder / "bent", "--image", name});
    draws({scene, "-o", folder / "b.npy", "--camera", folder / "straight", "--image", name});
    EXPECT_TRUE(formats::read_npy(folder / "a.npy").identical(formats::read_npy(folder / "b.npy"))) << name;
  }
  // Equidistant, with the focal lengths of the file; at half the size half of them.
  r.cameras[1] = {2, formats::CameraModel::pinhole, 32, 24, {20, 20, 16, 12}};
  const splat::Renderer fisheye(formats::read_gaussians(scene), {.camera = splat::CameraModel::fisheye});
  draws({scene, "-o", folder / "f.npy", "--camera", folder / "bent", "--image", "wide.png", "--lens", "fisheye",
         "--size", "32x24"});
  EXPECT_TRUE(formats::read_npy(folder / "f.npy").identical(fisheye(r.cameras[1], r.images[1])));
}

TEST(SplatRender, OrbitsAndFramesTheScene) {
  const TempFolder folder;
  const std::string scene = data("degree3.ply");
  draws({scene, "-o", folder / "x_%03d.png", "--orbit", "3", "--size", "32x24"});
  for (const char* name : {"x_000.png", "x_001.png", "x_002.png"}) EXPECT_TRUE(fs::exists(folder / name)) << name;
  draws({scene, "-o", folder / "one.png", "--size", "64x48", "--mode", "antialiased", "--degree", "1"});
  const HostTensor image = formats::read_image(folder / "one.png");
  double sum = 0;
  for (std::int64_t i = 0; i < image.numel(); ++i) sum += image.get_f64(i);
  EXPECT_GT(sum, 0);  // Something of it is seen.
  // The rest of a longer sequence would pass for the end of a shorter one; one as long or longer replaces it.
  expect_refusal({"splat", "render", scene, "-o", folder / "x_%03d.png", "--orbit", "2"}, 1, "ArgumentError",
                 "x_002.png is there, of a longer sequence than 2 images");
  draws({scene, "-o", folder / "x_%03d.png", "--orbit", "3", "--size", "16x16"});
  EXPECT_EQ(formats::read_image(folder / "x_002.png").shape()[1], 16);
  formats::write_gaussians(folder / "none.ply", formats::make_gaussian_cloud(0, 1));
  draws({folder / "none.ply", "-o", folder / "none.png", "--size", "8x8", "--background", "0,1,0"});
  EXPECT_EQ(formats::read_image(folder / "none.png").get_i64(1), 255);
}

TEST(SplatRender, Refusals) {
  const TempFolder folder;
  const std::string scene = two_gaussians(folder), out = folder / "x.png";
  const auto refused = [&](std::vector<std::string> more, int status, const char* type, const char* says) {
    more.insert(more.begin(), {"splat", "render", scene, "-o", out});
    expect_refusal(more, status, type, says);
  };
  refused({"--camera", "a", "--path", "b"}, 2, "UsageError", "exclude each other");
  refused({"--image", "1"}, 2, "UsageError", "--image chooses from --camera");
  refused({"--camera", "a", "--fov", "3"}, 2, "UsageError", "cameras that no file gives");
  refused({"--size", "3"}, 2, "UsageError", "--size takes WIDTHxHEIGHT");
  refused({"--size", "0x3"}, 2, "UsageError", "--size takes WIDTHxHEIGHT");
  refused({"--eye", "1,2"}, 2, "UsageError", "--eye takes 3 numbers");
  refused({"--fov", "180"}, 2, "UsageError", "--fov is between");
  refused({"--background", "2,0,0"}, 2, "UsageError", "--background takes numbers from 0 to 1");
  refused({"--mode", "fast"}, 2, "UsageError", "--mode");
  refused({"--depth", "x.jpg"}, 2, "UsageError", "--depth names a .png or a .npy");
  refused({"--depth-scale", "2"}, 2, "UsageError", "--depth-scale is an option for");
  refused({"--eye", "0,0,1", "--target", "0,0,1"}, 1, "ArgumentError", "from one finite point at another");
  refused({"--degree", "2"}, 1, "ArgumentError", "degree 2");
  refused({"--camera", folder / "absent.json"}, 1, "FormatError", "absent.json");
  refused({"--camera", folder / "two.ply"}, 1, "ArgumentError", "names no cameras: expected");
  put(folder / "none.json", "[]");
  refused({"--path", folder / "none.json"}, 1, "ArgumentError", "has no cameras");
  refused({"--device", "abacus"}, 1, "ArgumentError", "abacus");
  refused({"--size", "8x8", "--camera", data("colmap_binary"), "--image", "99"}, 1, "ArgumentError", "no image \"99\"");
  expect_refusal({"splat", "render", scene, "-o", folder / "a%d%d.png"}, 2, "UsageError", "has one number");
  expect_refusal({"splat", "render", scene, "-o", folder / "a%s.png"}, 2, "UsageError", "has one number");
  expect_refusal({"splat", "render", scene, "-o", folder / "a.jpg"}, 2, "UsageError", "names a .png or a .npy");
  refused({"--depth", out}, 2, "UsageError", "--output and --depth name the same file");
  refused({"--size", "1000000x1000000"}, 1, "ArgumentError", "an image of 1000000 x 1000000 pixels has more tiles");
  refused({"--lens", "square"}, 2, "UsageError", "--lens");
  refused({"--lens", "orthographic", "--camera", "a"}, 2, "UsageError", "--lens orthographic is for cameras that no");
  refused({"--lens", "fisheye", "--camera", data("colmap_binary"), "--image", "0"}, 1, "ArgumentError", "no fisheye");
  const std::string singular = R"([{"width": 4, "height": 4, "fx": 1e-300, "fy": 1, "position": [0, 0, 0],)"
                               R"( "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}])";
  put(folder / "singular.json", singular);
  refused({"--camera", folder / "singular.json"}, 1, "FormatError",
          "singular.json: [0]: camera 1 (PINHOLE): its intrinsics are singular in f32");
  EXPECT_FALSE(fs::exists(out));
}

TEST(SplatCapture, MakesAColmapFolder) {
  const TempFolder folder;
  const auto capture = [&](const std::string& to, std::vector<std::string> more) {
    more.insert(more.begin(), {"splat", "capture", "-o", folder / to, "--views", "2", "--size", "24x16", "--json"});
    const Outcome o = rlx(more);
    EXPECT_EQ(o.status, 0) << o.err;
    return o.json();
  };
  const auto j = capture("a", {"--random", "50", "--seed", "3", "--text"});
  EXPECT_EQ(j["views"], 2);
  EXPECT_EQ(j["points"], 50);
  const formats::Reconstruction r = formats::read_colmap(folder / "a/sparse/0");
  ASSERT_EQ(r.images.size(), 2u);
  EXPECT_EQ(r.points.size(), 50);
  EXPECT_EQ(r.cameras.at(0).width, 24);
  EXPECT_TRUE(fs::exists(folder / "a/sparse/0/points3D.txt"));
  EXPECT_EQ(formats::read_image(folder / "a/images/0001.png").shape(), (std::vector<std::int64_t>{16, 24, 3}));
  // The scene that was kept gives the same images again.
  capture("b", {folder / "a/scene.ply", "--seed", "3"});
  EXPECT_EQ(slurp(folder / "a/images/0001.png"), slurp(folder / "b/images/0001.png"));
  EXPECT_FALSE(fs::exists(folder / "b/scene.ply"));
  capture("d", {folder / "a/scene.ply", "--lowest-elevation", "-90"});
  EXPECT_NE(slurp(folder / "a/images/0001.png"), slurp(folder / "d/images/0001.png"));

  expect_refusal({"splat", "capture", "-o", folder / "c"}, 2, "UsageError", "takes a scene, or --random");
  expect_refusal({"splat", "capture", "x.ply", "--random", "3", "-o", folder / "c"}, 2, "UsageError", "or --random");
  expect_refusal({"splat", "capture", "--random", "3", "-o", folder / "c", "--views", "0"}, 2, "UsageError", "--views");
  for (const char* elevation : {"90", "-91", "nan"})
    expect_refusal({"splat", "capture", "--random", "3", "-o", folder / "c", "--lowest-elevation", elevation}, 2,
                   "UsageError", "from -90 to below 90");
  for (const char* seed : {"-1", "18446744073709551616"})
    expect_refusal({"splat", "capture", "--random", "3", "-o", folder / "c", "--seed", seed}, 2, "UsageError",
                   "--seed");
  for (const char* noise : {"-1", "inf", "nan"})
    expect_refusal({"splat", "capture", "--random", "3", "-o", folder / "c", "--point-noise", noise}, 2, "UsageError",
                   "--point-noise");
  formats::write_gaussians(folder / "none.ply", formats::make_gaussian_cloud(0, 1));
  expect_refusal({"splat", "capture", folder / "none.ply", "-o", folder / "c"}, 1, "ArgumentError",
                 "without Gaussians");
  put(folder / "file", "");
  expect_refusal({"splat", "capture", "--random", "3", "-o", folder / "file"}, 1, "FormatError", "Not a directory");
  expect_refusal({"splat", "capture", "--random", "3", "-o", folder / "file/below"}, 1, "FormatError", "cannot create");
  expect_refusal({"splat", "capture", "--random", "3", "-o", ""}, 1, "ArgumentError",
                 "the folder to write to is empty");
}

/// Names in a folder, with those of the folders in it, in order.
std::string entries(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& e : fs::recursive_directory_iterator(folder))
    if (!e.is_directory()) names.insert(e.path().lexically_relative(folder).string());
  std::string all;
  for (const std::string& name : names) all += name + " ";
  return all;
}

// What is there is neither replaced without a word nor mixed with what is new.
TEST(SplatCapture, AFolderThatHoldsSomethingIsRefused) {
  const TempFolder folder;
  const std::string made = folder / "made", image = folder / "made/images/0000.png";
  const auto capture = [&](std::vector<std::string> more) {
    std::vector<std::string> a{"splat", "capture", "--random", "80", "--size", "64x64", "-o", made};
    a.insert(a.end(), more.begin(), more.end());
    return a;
  };
  ASSERT_EQ(rlx(capture({"--views", "2"})).status, 0);
  const std::string all = "images/0000.png images/0001.png scene.ply ",
                    model = "sparse/0/cameras.bin sparse/0/images.bin sparse/0/points3D.bin ", before = slurp(image);
  EXPECT_EQ(entries(made), all + model);
  expect_refusal(capture({"--seed", "1"}), 1, "ArgumentError", "made holds a capture: --overwrite replaces it");
  expect_refusal({"splat", "capture", folder / "made/scene.ply", "-o", made + "/.", "--overwrite"}, 1, "ArgumentError",
                 "which --overwrite would remove");
  // One that fails on its way leaves what was there, and nothing of its own.
  expect_refusal(capture({"--seed", "1", "--overwrite"}), 1, "FormatError", "File too large",
                 "ulimit -f 2; RLX_CACHE_DIR=off");
  put(made + "/notes.txt", "mine");
  expect_refusal(capture({"--overwrite"}), 1, "ArgumentError", "made holds notes.txt beside a capture");
  fs::remove(made + "/notes.txt");
  EXPECT_EQ(entries(made), all + model);
  EXPECT_EQ(slurp(image), before);

  const Outcome again = rlx(capture({"--views", "1", "--seed", "1", "--text", "--overwrite"}));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(entries(made), "images/0000.png scene.ply sparse/0/cameras.txt sparse/0/images.txt sparse/0/points3D.txt ");
  EXPECT_NE(slurp(image), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(made).parent_path()), {}), 1);  // Nothing beside it.

  put(folder / "photo.jpg", "mine");
  expect_refusal({"splat", "capture", "--random", "3", "-o", folder / ".", "--overwrite"}, 1, "ArgumentError",
                 "and no capture: expected a folder that is new or empty");
}

TEST(SplatCapture, AnEmptyFolderBehindALinkIsFilled) {
  const TempFolder folder;
  fs::create_directory(folder / "real");
  fs::permissions(folder / "real", fs::perms::owner_all);
  fs::create_directory_symlink("real", folder / "link");
  const Outcome o = rlx({"splat", "capture", "--random", "9", "--views", "1", "--size", "8x8", "-o", folder / "link/"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::exists(folder / "real/sparse/0/cameras.bin"));
  EXPECT_EQ(fs::status(folder / "real").permissions(), fs::perms::owner_all);
}

}  // namespace
}  // namespace rlx::cli::testing
