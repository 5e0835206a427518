#include <rlx/formats/image.hpp>
#include <rlx/formats/undistort.hpp>

#include <sstream>

#include "lenses.hpp"

namespace rlx::formats::testing {

namespace {

TEST(Undistort, CamerasAreColmaps) {
  std::istringstream table(get(splat_data("undistorted.txt")));
  std::string model;
  int blank = 0, rows = 0;
  std::int64_t width = 0, height = 0;
  double p[4];
  while (table >> model >> blank >> width >> height >> p[0] >> p[1] >> p[2] >> p[3]) {
    const Camera c =
        undistorted_camera(example_camera(*camera_model(model)), blank ? Keep::all_pixels : Keep::valid_pixels);
    EXPECT_EQ(c.model, CameraModel::pinhole);
    EXPECT_EQ(c.width, width) << model << blank;
    EXPECT_EQ(c.height, height) << model << blank;
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(c.parameters[k], p[k], 1e-9) << model << blank;
    ++rows;
  }
  EXPECT_EQ(rows, 18);
}

// As many pixels as a camera may have are not all looked at; what is found is what a smaller image by the same lens
// has, all of whose pixels are. Half a pixel of 640: edges are looked at half a pixel of their own within, which the
// lens magnifies, and sizes are rounded down.
TEST(Undistort, CamerasOfAnySize) {
  for (const CameraModel model : {CameraModel::opencv, CameraModel::full_opencv, CameraModel::opencv_fisheye})
    for (const Keep keep : {Keep::valid_pixels, Keep::all_pixels}) {
      const auto scaled = [&](double factor) {
        Camera c = example_camera(model);
        c.width = static_cast<std::int64_t>(factor * static_cast<double>(c.width));
        c.height = static_cast<std::int64_t>(factor * static_cast<double>(c.height));
        for (std::size_t k = 0; k < 4; ++k) c.parameters[k] *= factor;
        return undistorted_camera(c, keep);
      };
      const double little = 64, much = 1 << 20;
      const Camera a = scaled(little), b = scaled(much);
      const auto near = [&](double x, double y) {
        EXPECT_NEAR(x / little, y / much, 0.5) << name(model) << static_cast<int>(keep);
      };
      near(static_cast<double>(a.width), static_cast<double>(b.width));
      near(static_cast<double>(a.height), static_cast<double>(b.height));
      for (std::size_t k = 0; k < 4; ++k) near(a.parameters[k], b.parameters[k]);
    }
}

Camera small_lens() { return {1, CameraModel::opencv, 64, 48, {50, 51, 32.2, 23.9, -0.21, 0.06, 0.002, -0.003}}; }

// OpenCV interpolates with weights in 32nds of a pixel, and fades to black beyond the centres at the edge.
TEST(Undistort, ImagesAreOpenCvs) {
  const HostTensor lens = read_image(splat_data("images/lens.png")),
                   wanted = read_image(splat_data("images/lens_undistorted.png"));
  const HostTensor image = undistort_image(lens, small_lens(), {1, CameraModel::pinhole, 64, 48, {50, 51, 32.2, 23.9}});
  ASSERT_EQ(image.shape(), wanted.shape());
  double most = 0;
  for (std::int64_t y = 2; y < 46; ++y)
    for (std::int64_t x = 2; x < 62; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const std::int64_t i = (y * 64 + x) * 3 + c;
        most = std::max(most, std::abs(image.get_f64(i) - wanted.get_f64(i)));
      }
  EXPECT_LE(most, 2);  // a gradient of at most 20 a pixel, over 1/64 in each direction, and one rounding
}

TEST(Undistort, WhatTheLensDidNotSeeIsZero) {
  HostTensor white(DType::u8, {48, 64, 1});
  for (std::uint8_t& x : white.as_mutable<std::uint8_t>()) x = 255;
  const auto zeros = [&](Keep keep) {
    const HostTensor image = undistort_image(white, small_lens(), undistorted_camera(small_lens(), keep));
    std::int64_t count = 0;
    for (const std::uint8_t x : image.as<std::uint8_t>()) {
      EXPECT_TRUE(x == 0 || x == 255);
      count += x == 0;
    }
    return count;
  };
  EXPECT_EQ(zeros(Keep::valid_pixels), 0);
  EXPECT_GT(zeros(Keep::all_pixels), 0);
}

TEST(Undistort, TypesAndRefusals) {
  const Camera pinhole{1, CameraModel::pinhole, 3, 2, {2, 2, 1.5, 1}};
  HostTensor image(DType::u16, {2, 3, 1});
  for (std::int64_t i = 0; i < 6; ++i) image.set_i64(i, 10000 * (i + 1));
  EXPECT_TRUE(undistort_image(image, pinhole, pinhole).identical(image));
  EXPECT_TRUE(undistort_image(unit_floats(image), pinhole, pinhole).identical(unit_floats(image)));
  expect_error<ArgumentError>([&] { undistort_image(HostTensor(DType::f64, {2, 3, 1}), pinhole, pinhole); },
                              "must be u8, u16 or f32");
  expect_error<ArgumentError>([&] { undistort_image(HostTensor(DType::u8, {3, 2, 1}), pinhole, pinhole); },
                              "an image [3, 2, 1] of a camera of 2 rows and 3 columns");
}

}  // namespace

}  // namespace rlx::formats::testing
