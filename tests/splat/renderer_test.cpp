// Pictures of scenes that a formula gives.
#include "references.hpp"

#include <rlx/splat/renderer.hpp>
#include <rlx/splat/viewpoint.hpp>

#include <cmath>
#include <limits>

#include <rlx/ir/error.hpp>

#include "splat/list_room.hpp"

namespace rlx::splat::testing {
namespace {

/// A round Gaussian at the origin, of this deviation, opacity 1 / 2 and colours 0.2, 0.5, 0.8.
formats::GaussianCloud ball(double deviation) {
  formats::GaussianCloud c = formats::make_gaussian_cloud(1, 0);
  for (std::int64_t k = 0; k < 3; ++k) {
    c.log_scales.set_f64(k, std::log(deviation));
    c.sh.set_f64(k, (0.2 + 0.3 * static_cast<double>(k) - 0.5) / formats::sh_constant);
  }
  c.quaternions.set_f64(0, 1);
  return c;
}

TEST(Renderer, OneGaussianIsItsFormula) {
  const double deviation = 0.1, distance = 4;
  const formats::Camera camera = pinhole_camera(33, 21, 0.5);
  const Renderer draw(ball(deviation), {.background = {0.1f, 0.9f, 0.4f}, .depth = true});
  const Picture p = draw.picture(camera, look_at({0, 0, -distance}, {0, 0, 0}));
  ASSERT_EQ(p.colours.shape(), (std::vector<std::int64_t>{21, 33, 3}));
  ASSERT_EQ(p.alpha.shape(), (std::vector<std::int64_t>{21, 33}));
  // On the axis the Jacobian of the projection is f / z times the identity.
  const double variance = std::pow(deviation * camera.parameters[0] / distance, 2) + 0.3;
  int seen = 0;
  for (std::int64_t y = 0; y < 21; ++y)
    for (std::int64_t x = 0; x < 33; ++x) {
      const double dx = static_cast<double>(x) - 16, dy = static_cast<double>(y) - 10;
      double alpha = 0.5 * std::exp(-(dx * dx + dy * dy) / variance / 2);
      if (alpha < 1.0 / 255) alpha = 0;
      seen += alpha > 0;
      const double background[] = {0.1, 0.9, 0.4};
      for (std::int64_t k = 0; k < 3; ++k)
        EXPECT_NEAR(p.colours.get_f64((y * 33 + x) * 3 + k),
                    alpha * (0.2 + 0.3 * static_cast<double>(k)) + (1 - alpha) * background[k], 2e-6);  // f32
      EXPECT_NEAR(p.alpha.get_f64(y * 33 + x), alpha, 2e-6);
      EXPECT_NEAR(p.depth.get_f64(y * 33 + x), alpha > 0 ? distance : 0, 1e-5);
    }
  EXPECT_GT(seen, 50);
  EXPECT_LT(seen, 33 * 21);
  EXPECT_TRUE(draw(camera, look_at({0, 0, -distance}, {0, 0, 0})).identical(p.colours));
}

TEST(Renderer, NothingIsTheBackground) {
  const formats::Camera camera = pinhole_camera(20, 10, 1);
  const auto is_background = [&](const Renderer& draw, const formats::PosedImage& pose) {
    const Picture p = draw.picture(camera, pose);
    for (std::int64_t i = 0; i < 200; ++i) {
      EXPECT_EQ(p.colours.get_f64(3 * i + 1), 0.5);
      EXPECT_EQ(p.alpha.get_f64(i), 0);
      EXPECT_EQ(p.depth.get_f64(i), 0);
    }
  };
  const RendererOptions options{.background = {0.25f, 0.5f, 1}, .depth = true};
  is_background(Renderer(formats::make_gaussian_cloud(0, 2), options), look_at({0, 0, -3}, {0, 0, 0}));
  is_background(Renderer(ball(0.1), options), look_at({0, 0, -3}, {0, 0, -6}));     // behind the camera
  is_background(Renderer(ball(0.1), options), look_at({0, 0, -0.001}, {0, 0, 1}));  // before the near plane
}

TEST(Renderer, ManyListsGetRoom) {
  formats::GaussianCloud c = formats::make_gaussian_cloud(300, 0);
  for (std::int64_t i = 0; i < 300; ++i) {
    c.quaternions.set_f64(4 * i, 1);
    c.means.set_f64(3 * i + 2, static_cast<double>(i) / 300);
  }
  // Each covers all of the image: 300 x 42 entries, where there is room for 4,800 at first.
  const Picture p = Renderer(c).picture(pinhole_camera(112, 96, 1), look_at({0, 0, -3}, {0, 0, 0}));
  EXPECT_NEAR(p.alpha.get_f64(0), 1, 1e-3);
}

TEST(Renderer, MoreEntriesThanListsCountAreRefused) {
  const auto wanted = [](std::int64_t n) { return Tensors{Tensor(HostTensor::scalar_i64(DType::i64, n))}; };
  ListRoom room(10);
  const auto refused = [&](std::int64_t n, std::uint64_t most) {
    try {
      room.fitted(0, [&] { return wanted(n); });
      ADD_FAILURE() << n << " entries were taken";
    } catch (const MemoryError& e) {
      EXPECT_NE(std::string(e.what()).find("with " + std::to_string(n) + " entries"), std::string::npos) << e.what();
      EXPECT_EQ(e.wanted_bytes(), 4 * static_cast<std::uint64_t>(n));
      EXPECT_LE(e.available_bytes(), most);
    }
    EXPECT_LT(room.entries(), n);
  };
  refused(most_entries + 1, 4 * static_cast<std::uint64_t>(most_entries));
  {
    const Setting little("RLX_MEMORY_LIMIT", "1K");  // Less than this process holds: nothing is left.
    refused(std::int64_t{1} << 22, 0);
  }
  room.fitted(0, [&] { return wanted(5000); });
  EXPECT_GE(room.entries(), 5000);
}

TEST(Renderer, BadInputIsRefused) {
  const formats::Camera camera = pinhole_camera(20, 10, 1);
  const auto refused = [](const auto& f, const char* says) {
    try {
      f();
      ADD_FAILURE() << "nothing was thrown: " << says;
    } catch (const ArgumentError& e) { EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what(); }
  };
  for (const double x : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    formats::GaussianCloud c = ball(1);
    c.means.set_f64(1, x);
    refused([&] { Renderer draw(c); }, "Gaussian 0 of 1 has a NaN or an infinity in its ");
    formats::Camera singular = camera;
    singular.parameters[0] = x;
    refused([&] { Renderer(ball(1))(singular, look_at({0, 0, -3}, {0, 0, 0})); }, "a parameter is not finite");
    refused([&] { (void)look_at({0, x, 0}, {0, 0, 0}); }, "from one finite point");
    formats::PosedImage pose;
    pose.translation[2] = x;
    refused([&] { Renderer(ball(1))(camera, pose); }, "not finite");
  }
  formats::Camera singular = camera;
  for (const double focal : {0.0, -5.0, 1e-300, 1e-9}) {
    singular.parameters[1] = focal;
    refused([&] { Renderer(ball(1))(singular, look_at({0, 0, -3}, {0, 0, 0})); }, focal > 0 ? "singular" : "focal");
  }
  refused([&] { Renderer(ball(1))(camera, formats::PosedImage{.rotation = {0, 0, 0, 0}}); }, "rotation is zero");
  refused([&] { Renderer(ball(1), {.degree = 1}); }, "degree 1");
  refused([&] { (void)look_at({1, 2, 3}, {1, 2, 3}); }, "from one finite point");
  refused([&] { (void)pinhole_camera(3, 3, 4); }, "field of view");
  refused([&] { (void)orbit({0, 0, 1}, {0, 0, 0}, 0); }, "an orbit of 0");
}

TEST(Viewpoint, LookAtHasTheTargetAheadAndUpUpwards) {
  const formats::PosedImage pose = look_at({1, 2, 3}, {4, 1, -2}, {0, 0, 1});
  const auto w = formats::world_to_camera(pose);
  const auto to_camera = [&](const Vector3& p) {
    Vector3 out{};
    for (std::size_t i = 0; i < 3; ++i)
      out[i] = w[4 * i] * p[0] + w[4 * i + 1] * p[1] + w[4 * i + 2] * p[2] + w[4 * i + 3];
    return out;
  };
  const Vector3 eye = to_camera({1, 2, 3}), target = to_camera({4, 1, -2}), above = to_camera({4, 1, -1});
  for (const double x : eye) EXPECT_NEAR(x, 0, 1e-14);
  EXPECT_NEAR(target[0], 0, 1e-14);
  EXPECT_NEAR(target[1], 0, 1e-14);
  EXPECT_NEAR(target[2], std::sqrt(35.0), 1e-13);
  EXPECT_NEAR(above[0], 0, 1e-14);
  EXPECT_LT(above[1], 0);                                 // y is down
  EXPECT_NO_THROW((void)look_at({0, -1, 0}, {0, 0, 0}));  // straight down, along up
}

TEST(Viewpoint, OrbitKeepsDistanceAndHeight) {
  const auto poses = orbit({2, -1, 0}, {0, 1, 0}, 7);
  ASSERT_EQ(poses.size(), 7u);
  for (const formats::PosedImage& pose : poses) {
    const auto w = formats::world_to_camera(pose);
    Vector3 eye{};
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < 3; ++i) eye[k] -= w[4 * i + k] * w[4 * i + 3];
    EXPECT_NEAR(eye[1], -1, 1e-12);
    EXPECT_NEAR(std::hypot(eye[0], eye[2]), 2, 1e-12);
    EXPECT_NEAR(w[9] * 1 + w[11], std::hypot(2, 2), 1e-12);  // the target ahead
  }
}

TEST(Viewpoint, BallHoldsTheScene) {
  formats::GaussianCloud c = formats::make_gaussian_cloud(201, 0);
  for (std::int64_t i = 0; i < 201; ++i) c.means.set_f64(3 * i, 5 + 0.01 * static_cast<double>(i - 100));
  c.means.set_f64(3 * 200 + 1, 1e6);  // one far away moves nothing
  c.means.set_f64(0, std::numeric_limits<double>::quiet_NaN());
  const Ball b = ball_around(c);
  EXPECT_NEAR(b.centre[0], 5, 0.02);
  EXPECT_NEAR(b.radius, 1, 0.03);
  EXPECT_EQ(ball_around(formats::make_gaussian_cloud(0, 0)).radius, 1);
}

}  // namespace
}  // namespace rlx::splat::testing
