// Renders in functions of tensors: the pictures of Renderer, and gradients against differences.
#include "located.hpp"

#include <rlx/splat/renderer.hpp>
#include <rlx/splat/tensor.hpp>
#include <rlx/splat/viewpoint.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <rlx/ir/error.hpp>
#include <rlx/rlx.hpp>

namespace rlx::splat::testing {
namespace {

Tensor normal(Extents shape, double mean, double deviation, std::uint32_t seed, DType t) {
  std::mt19937 bits(seed);
  std::normal_distribution<double> n(mean, deviation);
  HostTensor out(t, std::move(shape));
  for (std::int64_t i = 0; i < out.numel(); ++i) out.set_f64(i, n(bits));
  return out;
}

GaussianTensors gaussians(std::int64_t n, DType t) {
  return {normal({n, 3}, 0, 0.3, 1, t), normal({n, 4}, 0, 1, 2, t), normal({n, 3}, 0.15, 0.02, 3, t),
          normal({n}, 0.5, 0.1, 4, t), normal({n, 4, 3}, 0, 0.3, 5, t)};
}

CameraTensors cameras(DType t) {
  const formats::Camera camera = pinhole_camera(24, 16, 0.9);
  const auto& p = camera.parameters;
  std::vector<double> views, intrinsics;
  for (const Vector3& eye : {Vector3{0.2, -0.1, -2}, Vector3{1.5, 0, -1}}) {
    const auto w = formats::world_to_camera(look_at(eye, {0, 0, 0}));
    views.insert(views.end(), w.begin(), w.end());
    intrinsics.insert(intrinsics.end(), {p[0], 0, p[2], 0, p[1], p[3], 0, 0, 1});
  }
  return {HostTensor::from(t, {2, 4, 4}, views), HostTensor::from(t, {2, 3, 3}, intrinsics)};
}

TEST(SplatTensor, DrawsWhatTheRendererDraws) {
  const GaussianTensors g = gaussians(40, DType::f32);
  formats::GaussianCloud cloud = formats::make_gaussian_cloud(40, 1);
  cloud.means = g.means.host_tensor();
  cloud.quaternions = g.quats.host_tensor();
  cloud.sh = g.sh.host_tensor();
  for (std::int64_t i = 0; i < 120; ++i) cloud.log_scales.set_f64(i, std::log(g.scales.host_tensor().get_f64(i)));
  for (std::int64_t i = 0; i < 40; ++i) {
    const double o = g.opacities.host_tensor().get_f64(i);
    cloud.opacity_logits.set_f64(i, std::log(o / (1 - o)));
  }
  const ImageTensors both = render(g, cameras(DType::f32), {.project = {.width = 24, .height = 16}, .degree = 1});
  ASSERT_EQ(both.image.shape(), (Extents{2, 16, 24, 3}));
  ASSERT_EQ(both.alpha.shape(), (Extents{2, 16, 24}));
  const Picture p = Renderer(cloud).picture(pinhole_camera(24, 16, 0.9), look_at({1.5, 0, -1}, {0, 0, 0}));
  for (std::int64_t i = 0; i < p.colours.numel(); ++i)
    EXPECT_NEAR(both.image.host_tensor().get_f64(p.colours.numel() + i), p.colours.get_f64(i), 1e-5);
  for (std::int64_t i = 0; i < p.alpha.numel(); ++i)
    EXPECT_NEAR(both.alpha.host_tensor().get_f64(p.alpha.numel() + i), p.alpha.get_f64(i), 1e-5);
}

// Central differences in f64: their error is of the order of step^2 plus rounding / step, 1e-9 of the loss. No pixel of
// these scenes has its alpha pass 1 / 255 within a step, where the loss would jump.
TEST(SplatTensor, DifferentiatesInsideAFunction) {
  const GaussianTensors g = gaussians(5, DType::f64);
  const CameraTensors c = cameras(DType::f64);
  const auto loss = [&](const Tensor& means, const Tensor& views) {
    const ImageTensors r = render({means, g.quats, g.scales, g.opacities, g.sh}, {views, c.intrinsics},
                                  {.project = {.width = 24, .height = 16}, .degree = 1});
    return mean(square(r.image)) + mean(r.alpha);
  };
  const auto step = jit(value_and_grad<0, 1>(loss));
  const auto [value, gradients] = step(g.means, c.views);
  EXPECT_GT(value.item(), 0.01);
  const auto check_against_differences = [&](const Tensor& at, const Tensor& gradient, std::int64_t i, const auto& f) {
    constexpr double h = 1e-5;
    HostTensor more = at.host_tensor(), less = at.host_tensor();
    more.set_f64(i, more.get_f64(i) + h);
    less.set_f64(i, less.get_f64(i) - h);
    EXPECT_NEAR(gradient.host_tensor().get_f64(i), (f(more).item() - f(less).item()) / (2 * h), 1e-6) << i;
  };
  for (std::int64_t i = 0; i < 15; i += 4)
    check_against_differences(g.means, std::get<0>(gradients), i,
                              [&](const HostTensor& x) { return loss(Tensor(x), c.views); });
  for (const std::int64_t i : {3, 11, 16 + 7})
    check_against_differences(c.views, std::get<1>(gradients), i,
                              [&](const HostTensor& x) { return loss(g.means, Tensor(x)); });
}

TEST(SplatTensor, BackgroundsRoomAndTypes) {
  const GaussianTensors none = gaussians(0, DType::f32), g = gaussians(30, DType::f32);
  CameraTensors c = cameras(DType::f32);
  c.backgrounds = Tensor::from<float>({0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f}, Extents{2, 3});
  const ImageTensors r = render(none, c, {.project = {.width = 24, .height = 16}, .degree = 1});
  EXPECT_EQ(r.image.host_tensor().get_f64(16 * 24 * 3 + 1), static_cast<double>(0.5f));
  EXPECT_EQ(r.alpha.host_tensor().get_f64(0), 0);
  EXPECT_THROW(
      (void)render(g, c, {.project = {.width = 24, .height = 16}, .degree = 1, .entries = 3}).image.host_tensor(),
      NumericalError);
  EXPECT_THROW((void)render(g, cameras(DType::f64), {.project = {.width = 24, .height = 16}, .degree = 1}),
               VerifyError);
  EXPECT_THROW((void)render(g, c, {.project = {.width = 24, .height = 16}, .degree = 2}), VerifyError);
  EXPECT_NEAR(ssim(zeros({16, 16, 3}), zeros({16, 16, 3})).item(), 1, 1e-12);
  EXPECT_NEAR(knn(Tensor::from<double>({0, 0, 0, 3, 0, 0, 3, 4, 0}, Extents{3, 3}), 1).host_tensor().get_f64(0), 9,
              1e-12);
}

TEST(SplatTensor, RefusalsHaveTheCallersLine) {
  const GaussianTensors g = gaussians(3, DType::f32);
  unsigned line = 0;
  expect_refused_at(line, "splat.render",
                    [&] { line = __LINE__, (void)render(g, cameras(DType::f64), {.degree = 1}); });
  expect_refused_at(line, "splat.ssim", [&] { line = __LINE__, (void)ssim(zeros({16, 16, 3}), zeros({16, 16})); });
  expect_refused_at(line, "splat.knn", [&] { line = __LINE__, (void)knn(zeros({3, 2}), 1); });
}

}  // namespace
}  // namespace rlx::splat::testing
