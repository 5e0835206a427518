#include <rlx/formats/camera.hpp>

#include <limits>
#include <sstream>

#include "lenses.hpp"

namespace rlx::formats::testing {

namespace {

TEST(Camera, LensesAgreeWithOpenCvAndColmap) {
  std::istringstream table(get(splat_data("lenses.txt")));
  std::string model, by;
  double x = 0, y = 0, u = 0, v = 0;
  int rows = 0;
  while (table >> model >> x >> y >> u >> v >> by) {
    const Lens lens(example_camera(*camera_model(model)));
    const Point2 pixel = lens.pixel({x, y});
    EXPECT_NEAR(pixel[0], u, 1e-9) << model;
    EXPECT_NEAR(pixel[1], v, 1e-9) << model;
    const auto ray = lens.ray({u, v});
    ASSERT_TRUE(ray) << model;
    EXPECT_NEAR((*ray)[0], x, 1e-9) << model;
    EXPECT_NEAR((*ray)[1], y, 1e-9) << model;
    ++rows;
  }
  EXPECT_EQ(rows, 9 * 6);
}

TEST(Camera, NamesAreColmaps) {
  for (int i = 0; i < 9; ++i) {
    const auto m = static_cast<CameraModel>(i);
    EXPECT_EQ(camera_model(name(m)), m);
  }
  EXPECT_EQ(camera_model("FOV"), std::nullopt);
  EXPECT_EQ(name(CameraModel::simple_radial_fisheye), "SIMPLE_RADIAL_FISHEYE");
}

TEST(Camera, TheAxisIsAFixedPoint) {
  for (int i = 0; i < 9; ++i) {
    const Camera c = example_camera(static_cast<CameraModel>(i));
    const Pinhole p = pinhole_of(c);
    EXPECT_EQ(Lens(c).pixel({0, 0}), (Point2{p.cx, p.cy}));
    EXPECT_EQ(Lens(c).ray({p.cx, p.cy}), (Point2{0, 0}));
  }
}

TEST(Camera, WhatNoRayReachesHasNone) {
  // A radius of r (1 - r^2 / 3) is at most 2/3, at r = 1.
  const Lens folded(Camera{1, CameraModel::simple_radial, 100, 100, {1, 0, 0, -1.0 / 3}});
  EXPECT_TRUE(folded.ray({0.6, 0}));
  EXPECT_FALSE(folded.ray({0.7, 0}));
  EXPECT_TRUE(folded.sees({0.9, 0}));
  EXPECT_FALSE(folded.sees({0.9, 0.9}));
  const Lens wide(Camera{1, CameraModel::simple_radial_fisheye, 100, 100, {1, 0, 0, 0}});
  EXPECT_TRUE(wide.ray({1.57, 0}));
  EXPECT_FALSE(wide.ray({1.58, 0}));  // more than a quarter turn
}

TEST(Camera, ResizedSeesTheSameRays) {
  for (const CameraModel m : {CameraModel::simple_pinhole, CameraModel::pinhole}) {
    const Camera c = example_camera(m), half = resized(c, 320, 60);
    EXPECT_EQ(half.model, CameraModel::pinhole);
    EXPECT_EQ(half.id, c.id);
    const Point2 whole = Lens(c).pixel({0.1, -0.2}), part = Lens(half).pixel({0.1, -0.2});
    EXPECT_NEAR(part[0], whole[0] * 320 / 640, 1e-12);
    EXPECT_NEAR(part[1], whole[1] * 60 / 480, 1e-12);
  }
  expect_error<ArgumentError>([] { resized(example_camera(CameraModel::opencv), 10, 10); }, "OPENCV is not resized");
}

TEST(Camera, Refusals) {
  Camera c{7, CameraModel::pinhole, 10, 10, {1, 1, 5, 5}};
  EXPECT_NO_THROW(check(c));
  c.parameters.pop_back();
  expect_error<ArgumentError>([&] { check(c); }, "camera 7 (PINHOLE): 3 parameters, expected 4");
  c.parameters = {0, 1, 5, 5};
  expect_error<ArgumentError>([&] { Lens{c}; }, "a focal length must be positive");
  c.parameters = {1, 1, std::numeric_limits<double>::infinity(), 5};
  expect_error<ArgumentError>([&] { check(c); }, "not finite");
  for (const std::vector<double>& singular :
       {std::vector<double>{1e-300, 1, 5, 5}, {1, 1e-39, 5, 5}, {1e39, 1, 5, 5}, {1, 1, -1e300, 5}, {1, 1, 5, 1e39}}) {
    c.parameters = singular;
    expect_error<ArgumentError>([&] { check(c); }, "camera 7 (PINHOLE): its intrinsics are singular in f32");
  }
  c = {7, CameraModel::pinhole, 0, 10, {1, 1, 5, 5}};
  expect_error<ArgumentError>([&] { check(c); }, "a size of 0 x 10 pixels");
}

}  // namespace

}  // namespace rlx::formats::testing
