// What the tests of formats of Gaussians share: files of tests/data/splat, clouds, and their comparison.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>

#include <cmath>
#include <random>
#include <vector>

#include "support.hpp"

namespace rlx::formats::testing {

using places::splat_data;

/// Means within 3, log scales -7 to 0, coefficients within 0.8.
inline GaussianCloud random_cloud(std::int64_t count, int degree, unsigned seed = 1) {
  GaussianCloud c = make_gaussian_cloud(count, degree);
  std::mt19937 engine(seed);
  const auto fill = [&](HostTensor& t, float low, float high) {
    std::uniform_real_distribution<float> value(low, high);
    for (float& x : t.as_mutable<float>()) x = value(engine);
  };
  fill(c.means, -3, 3);
  fill(c.log_scales, -7, 0);
  fill(c.quaternions, -1, 1);
  fill(c.opacity_logits, -4, 4);
  fill(c.sh, -0.8f, 0.8f);
  return c;
}

inline void expect_identical(const GaussianCloud& a, const GaussianCloud& b) {
  EXPECT_EQ(a.sh_degree, b.sh_degree);
  EXPECT_TRUE(a.means.identical(b.means));
  EXPECT_TRUE(a.log_scales.identical(b.log_scales));
  EXPECT_TRUE(a.quaternions.identical(b.quaternions));
  EXPECT_TRUE(a.opacity_logits.identical(b.opacity_logits));
  EXPECT_TRUE(a.sh.identical(b.sh));
}

inline void expect_near(const HostTensor& a, const HostTensor& b, double tolerance, const char* what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  for (std::int64_t i = 0; i < a.numel(); ++i) ASSERT_NEAR(a.get_f64(i), b.get_f64(i), tolerance) << what << " " << i;
}

/// How far each array may be off.
struct Tolerances {
  double mean = 1e-5, log_scale = 1e-5, quaternion = 1e-5, opacity = 1e-5, colour = 1e-5, harmonic = 1e-5;
};

/// Quaternions are compared as rotations: normalised, either sign; opacities after the sigmoid.
inline void expect_close(const GaussianCloud& a, const GaussianCloud& b, const Tolerances& t) {
  ASSERT_EQ(a.sh.shape(), b.sh.shape());
  expect_near(a.means, b.means, t.mean, "mean");
  expect_near(a.log_scales, b.log_scales, t.log_scale, "log scale");
  for (std::int64_t i = 0; i < a.size(); ++i) {
    double dot = 0, aa = 0, bb = 0;
    for (std::int64_t k = 4 * i; k < 4 * i + 4; ++k) {
      dot += a.quaternions.get_f64(k) * b.quaternions.get_f64(k);
      aa += a.quaternions.get_f64(k) * a.quaternions.get_f64(k);
      bb += b.quaternions.get_f64(k) * b.quaternions.get_f64(k);
    }
    // The distance of two unit vectors is sqrt(2 - 2 dot).
    ASSERT_NEAR(std::abs(dot) / std::sqrt(aa * bb), 1, t.quaternion * t.quaternion / 2 + 1e-7) << "quaternion " << i;
    const auto opacity = [i](const GaussianCloud& c) { return 1 / (1 + std::exp(-c.opacity_logits.get_f64(i))); };
    ASSERT_NEAR(opacity(a), opacity(b), t.opacity) << "opacity " << i;
  }
  const std::int64_t width = 3 * sh_coefficients(a.sh_degree);
  for (std::int64_t i = 0; i < a.sh.numel(); ++i)
    ASSERT_NEAR(a.sh.get_f64(i), b.sh.get_f64(i), i % width < 3 ? t.colour : t.harmonic) << "harmonic " << i;
}

}  // namespace rlx::formats::testing
