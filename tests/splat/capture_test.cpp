// Captures: made ones look at what they were made of, and read ones are what was written.
#include "training.hpp"

#include <rlx/formats/colmap.hpp>
#include <rlx/formats/image.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/viewpoint.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace rlx::splat::testing {
namespace {

namespace fs = std::filesystem;

TEST(Capture, CamerasLookAtTheMiddleOfTheScene) {
  const Capture c = small_capture();
  check(c);
  ASSERT_EQ(c.size(), 8u);
  EXPECT_EQ(c.pose(3).name, "0003.png");
  double distance = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    // The scene lies around the origin, within the noise of the median of 200 Gaussians.
    const auto m = formats::world_to_camera(c.pose(i));
    EXPECT_NEAR(m[3] / m[11], 0, 0.1);
    EXPECT_NEAR(m[7] / m[11], 0, 0.1);
    EXPECT_GT(m[11], 1);
    double brightest = 0;
    for (std::int64_t k = 0; k < c.images[i].numel(); ++k) brightest = std::max(brightest, c.images[i].get_f64(k));
    EXPECT_GT(brightest, 100);
    if (i > 0) { EXPECT_NEAR(std::hypot(m[3], m[7], m[11]), distance, 0.3); }
    distance = std::hypot(m[3], m[7], m[11]);
  }
  EXPECT_EQ(c.reconstruction.points.size(), 200);
}

/// Directions from the middle of the scene to the cameras; up is along -y.
std::vector<Vector3> directions(double lowest_elevation, int views) {
  const auto scene = synthetic_scene(200);
  const Vector3 middle = ball_around(scene).centre;
  const Capture c = capture_scene(
      scene, {.views = views, .width = 8, .height = 8, .lowest_elevation = lowest_elevation, .device = "cpu"});
  std::vector<Vector3> out;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const auto m = formats::world_to_camera(c.pose(i));
    Vector3 d;
    for (std::size_t k = 0; k < 3; ++k) d[k] = -(m[k] * m[3] + m[4 + k] * m[7] + m[8 + k] * m[11]) - middle[k];
    const double length = std::hypot(d[0], d[1], d[2]);
    for (double& x : d) x /= length;
    out.push_back(d);
  }
  return out;
}

TEST(Capture, CamerasWalkAroundTheSceneAboveAnElevation) {
  constexpr double pi = std::numbers::pi;
  const auto angle = [](const Vector3& a, const Vector3& b) {
    return std::acos(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
  };
  for (const double lowest : {-pi / 2, 0.0, pi / 6}) {
    const auto at = directions(lowest, 32);
    // A cap of height h has the area 2 pi h: each view is alone on a square of its share, and the next one beside it.
    const double side = std::sqrt(2 * pi * (1 - std::sin(lowest)) / 32);
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_GT(-at[i][1], std::sin(lowest)) << i;
      if (i > 0) { EXPECT_LT(at[i - 1][1], at[i][1]) << i; }  // Downwards.
      if (i > 0) { EXPECT_NEAR(angle(at[i - 1], at[i]), side, 0.15 * side) << i; }
      for (std::size_t k = 0; k < i; ++k) EXPECT_GT(angle(at[k], at[i]), 0.8 * side) << k << " " << i;
    }
    EXPECT_LT(-at.back()[1], std::sin(lowest) + side);
  }
}

TEST(Capture, TheSameSceneGivesTheSameImages) {
  const Capture a = small_capture(), b = small_capture();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a.images[i], b.images[i]);
  EXPECT_EQ(a.reconstruction.points.positions, b.reconstruction.points.positions);
}

void write(const Capture& c, const Folder& folder) {
  fs::create_directories(folder / "images");
  for (std::size_t i = 0; i < c.size(); ++i) formats::write_png(folder / ("images/" + c.pose(i).name), c.images[i]);
  formats::write_colmap(folder / "sparse/0", c.reconstruction);
}

TEST(Capture, ReadsWhatWasWritten) {
  const Folder folder;
  const Capture c = small_capture();
  write(c, folder);
  for (const char* below : {"", "sparse/0"}) {
    const Capture read = read_capture(folder / below);
    ASSERT_EQ(read.size(), c.size());
    for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(read.images[i], c.images[i]);
    EXPECT_EQ(read.reconstruction.points.positions, c.reconstruction.points.positions);
    EXPECT_EQ(read.camera(0).parameters, c.camera(0).parameters);
  }
}

TEST(Capture, ScalesByMeans) {
  const Folder folder;
  const Capture c = small_capture();
  write(c, folder);
  const Capture half = read_capture(folder / "", {.scale = 0.5});
  EXPECT_EQ(half.camera(0).width, 24);
  EXPECT_EQ(half.camera(0).parameters[0], c.camera(0).parameters[0] / 2);
  const auto whole = c.images[0].as<std::uint8_t>(), part = half.images[0].as<std::uint8_t>();
  for (std::size_t y = 0; y < 24; ++y)
    for (std::size_t x = 0; x < 24; ++x)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto at = [&](std::size_t v, std::size_t u) {
          return int{whole[((2 * y + v) * 48 + 2 * x + u) * 3 + k]};
        };
        const double mean = (at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1)) / 4.0;
        EXPECT_NEAR(part[(y * 24 + x) * 3 + k], mean, 0.51);  // Rounded once.
      }
}

TEST(Capture, TransparentImagesLieOverTheBackground) {
  const Folder folder;
  Capture c = small_capture();
  write(c, folder);
  HostTensor image(DType::u8, {48, 48, 4});
  for (std::int64_t p = 0; p < 48 * 48; ++p) {
    image.set_f64(4 * p, 200);
    image.set_f64(4 * p + 3, 51);
  }
  formats::write_png(folder / "images/0000.png", image);
  const Capture read = read_capture(folder / "", {.background = {0, 1, 0}});
  EXPECT_EQ(read.images[0].get_f64(0), 40);   // A fifth of 200.
  EXPECT_EQ(read.images[0].get_f64(1), 204);  // Four fifths of 255.
}

TEST(Capture, RefusesWhatDoesNotFit) {
  const Folder folder;
  Capture c = small_capture();
  write(c, folder);
  formats::write_png(folder / "images/0002.png", HostTensor(DType::u8, {48, 40, 3}));
  try {
    read_capture(folder / "");
    ADD_FAILURE() << "an image of another size was taken";
  } catch (const FormatError& e) {
    EXPECT_TRUE(e.file().ends_with("0002.png"));
    EXPECT_NE(std::string(e.what()).find("40 x 48 pixels, expected 48 x 48"), std::string::npos) << e.what();
  }
  EXPECT_THROW(read_capture(folder / "images"), ArgumentError);
  EXPECT_THROW(read_capture(folder / "", {.scale = 0}), ArgumentError);
  Capture wrong = c;
  wrong.images[1] = HostTensor(DType::u8, {48, 48, 4});
  try {
    check(wrong);
    ADD_FAILURE() << "an image with an alpha channel was taken";
  } catch (const ArgumentError& e) {
    EXPECT_STREQ(e.what(), "image \"0001.png\" is u8[48,48,4], its camera makes u8[48,48,3]");
  }
  wrong = c;
  wrong.images.pop_back();
  EXPECT_THROW(check(wrong), ArgumentError);
  EXPECT_THROW(check(Capture{}), ArgumentError);
  c.reconstruction.images.clear();
  c.reconstruction.points = {};
  formats::write_colmap(folder / "sparse/0", c.reconstruction);
  EXPECT_THROW(read_capture(folder / ""), ArgumentError);
  EXPECT_THROW(synthetic_scene(0), ArgumentError);
  const auto refused = [](const SyntheticCapture& o, const std::string& says) {
    try {
      capture_scene(synthetic_scene(5), o);
      ADD_FAILURE() << "taken, in spite of: " << says;
    } catch (const ArgumentError& e) { EXPECT_EQ(std::string(e.what()).find("capture: " + says), 0u) << e.what(); }
  };
  refused({.views = 0}, "views is 0, not a number of at least 1");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {-1.0, infinity, std::nan("")}) {
    refused({.distance = x}, "distance is ");
    refused({.point_noise = x}, "point_noise is ");
  }
  for (const double elevation : {-1.6, std::numbers::pi / 2, std::nan("")})
    refused({.lowest_elevation = elevation}, "lowest_elevation is ");
}

}  // namespace
}  // namespace rlx::splat::testing
