#include <rlx/formats/reconstruction.hpp>

#include <cmath>

#include "support.hpp"

namespace rlx::formats::testing {

namespace {

Reconstruction small() {
  Reconstruction r;
  r.cameras.push_back({3, CameraModel::simple_pinhole, 10, 10, {5, 5, 5}});
  r.images.push_back({1, "a.png", 0, {1, 0, 0, 0}, {}, {{1, 2, 0}}});
  r.points.ids = {4};
  r.points.positions = HostTensor(DType::f64, {1, 3});
  r.points.colours = HostTensor(DType::u8, {1, 3});
  r.points.errors = HostTensor(DType::f64, {1});
  r.points.tracks = {{0, 0}};
  r.points.track_offsets = {0, 1};
  return r;
}

TEST(Reconstruction, WhatIsChecked) {
  EXPECT_NO_THROW(check(Reconstruction{}));
  EXPECT_NO_THROW(check(small()));
  const auto refused = [](auto change, const char* says) {
    Reconstruction r = small();
    change(r);
    expect_error<ArgumentError>([&] { check(r); }, says);
  };
  refused([](auto& r) { r.cameras[0].width = 0; }, "a size of 0 x 10");
  refused([](auto& r) { r.cameras.push_back(r.cameras[0]); }, "camera 3 is there twice");
  refused([](auto& r) { r.images.push_back(r.images[0]); }, "image 1 is there twice");
  refused([](auto& r) { (r.images.push_back(r.images[0]), r.images[1].id = 2); }, "image 'a.png' is there twice");
  refused([](auto& r) { r.images[0].camera = 1; }, "has no camera 1");
  refused([](auto& r) { r.images[0].rotation = {1, 0, 0, 0.1}; }, "a rotation of length 1.00");
  refused([](auto& r) { r.images[0].translation[1] = NAN; }, "a translation that is not finite");
  refused([](auto& r) { r.images[0].observations[0].point = 1; }, "sees a point 1");
  refused([](auto& r) { r.points.tracks[0].observation = 1; }, "a track names observation 1 of image 0");
  refused([](auto& r) { r.points.tracks[0].image = 1; }, "a track names observation 0 of image 1");
  refused([](auto& r) { r.points.ids.push_back(5); }, "arrays of its points do not agree");
  refused([](auto& r) { r.points.track_offsets = {0, 2}; }, "arrays of its points do not agree");
}

TEST(Reconstruction, RotationsAndTheirMatrices) {
  // A quarter turn about z takes x to y.
  PosedImage image;
  image.rotation = {std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
  image.translation = {7, 8, 9};
  const std::array<double, 16> wanted{0, -1, 0, 7, 1, 0, 0, 8, 0, 0, 1, 9, 0, 0, 0, 1};
  const auto m = world_to_camera(image);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(m[i], wanted[i], 1e-15);

  // Turns about every axis, the half turns too, where w is zero.
  for (int axis = 0; axis < 7; ++axis) {
    for (int step = 0; step <= 16; ++step) {
      const double half = step * std::acos(-1.0) / 16;
      std::array<double, 3> a{axis % 7 != 1 ? 1.0 : 0, axis > 2 ? -0.5 : axis == 1 ? 1.0 : 0, axis % 2 ? 0.3 : 0};
      const double length = std::hypot(a[0], a[1], a[2]);
      PosedImage turned;
      turned.rotation = {std::cos(half), std::sin(half) * a[0] / length, std::sin(half) * a[1] / length,
                         std::sin(half) * a[2] / length};
      const auto w = world_to_camera(turned);
      const auto q = rotation_quaternion({w[0], w[1], w[2], w[4], w[5], w[6], w[8], w[9], w[10]});
      double dot = 0, squares = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        dot += q[k] * turned.rotation[k];
        squares += q[k] * q[k];
      }
      EXPECT_NEAR(std::abs(dot), 1, 1e-14);
      EXPECT_NEAR(squares, 1, 1e-14);
      EXPECT_GE(q[0], 0);
    }
  }
}

}  // namespace

}  // namespace rlx::formats::testing
