#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/formats/gaussian_file.hpp>

#include <limits>

#include "gaussians.hpp"

namespace rlx::formats::testing {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

TEST(GaussianCloud, ShapesAreChecked) {
  EXPECT_NO_THROW(check(GaussianCloud{}));
  EXPECT_NO_THROW(check(make_gaussian_cloud(3, 4)));
  expect_error<ArgumentError>([] { make_gaussian_cloud(1, 5); }, "degree 5");
  expect_error<ArgumentError>([] { make_gaussian_cloud(-1, 0); }, "");
  GaussianCloud c = make_gaussian_cloud(3, 1);
  c.quaternions = HostTensor(DType::f32, {3, 3});
  expect_error<ArgumentError>([&] { check(c); }, "quaternions must be f32[3, 4], not f32[3, 3]");
  c = make_gaussian_cloud(3, 1);
  c.means = HostTensor(DType::f64, {3, 3});
  expect_error<ArgumentError>([&] { summarize(c); }, "means must be f32[3, 3], not f64[3, 3]");
}

TEST(GaussianCloud, SummaryCountsWhatCannotBeDrawn) {
  GaussianCloud c = make_gaussian_cloud(6, 1);
  for (float& q : c.quaternions.as_mutable<float>()) q = 1;
  const auto mean = c.means.as_mutable<float>();
  for (std::size_t i = 0; i < 18; ++i) mean[i] = static_cast<float>(i);
  c.log_scales.as_mutable<float>()[0] = 1;
  c.log_scales.as_mutable<float>()[1] = -2;
  mean[3] = nan;                                       // Gaussian 1
  c.sh.as_mutable<float>()[2 * 12] = infinity;         // Gaussian 2
  c.opacity_logits.as_mutable<float>()[3] = infinity;  // Gaussian 3 is opaque, which is no fault
  for (std::size_t k = 16; k < 20; ++k) c.quaternions.as_mutable<float>()[k] = 0;  // Gaussian 4
  c.opacity_logits.as_mutable<float>()[5] = nan;
  const GaussianSummary s = summarize(c);
  EXPECT_EQ(s.count, 6);
  EXPECT_EQ(s.not_finite, 3);
  EXPECT_EQ(s.zero_quaternions, 1);
  EXPECT_EQ(s.lower, (std::array<float, 3>{0, 1, 2}));
  EXPECT_EQ(s.upper, (std::array<float, 3>{12, 13, 14}));
  EXPECT_FLOAT_EQ(s.largest_scale, std::exp(1.0f));
  EXPECT_FLOAT_EQ(s.smallest_scale, std::exp(-2.0f));
  EXPECT_DOUBLE_EQ(s.mean_opacity, (0.5 + 1 + 0.5) / 3);
  EXPECT_EQ(summarize(GaussianCloud{}).upper, (std::array<float, 3>{0, 0, 0}));
  // What draws refuses them with the first one's place.
  expect_error<ArgumentError>([&] { check_finite(c); },
                              "Gaussian 1 of 6 has a NaN or an infinity in its means (not finite are 3)");
  mean[3] = 0;
  expect_error<ArgumentError>([&] { check_finite(c); }, "Gaussian 2 of 6 has a NaN or an infinity in its sh");
  c.sh.as_mutable<float>()[2 * 12] = 0;
  expect_error<ArgumentError>([&] { check_finite(c); },
                              "Gaussian 5 of 6 has a NaN or an infinity in its opacity_logits");
  c.opacity_logits.as_mutable<float>()[5] = 0;
  EXPECT_NO_THROW(check_finite(c));
}

TEST(GaussianCloud, SelectionsKeepEveryArray) {
  const GaussianCloud c = random_cloud(20, 2);
  const std::vector<std::int64_t> chosen{7, 0, 7};
  const GaussianCloud s = select(c, chosen);
  ASSERT_EQ(s.size(), 3);
  check(s);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(s.means.get_f64(3 * i + 1), c.means.get_f64(3 * chosen[i] + 1));
    EXPECT_EQ(s.log_scales.get_f64(3 * i + 2), c.log_scales.get_f64(3 * chosen[i] + 2));
    EXPECT_EQ(s.quaternions.get_f64(4 * i + 3), c.quaternions.get_f64(4 * chosen[i] + 3));
    EXPECT_EQ(s.opacity_logits.get_f64(i), c.opacity_logits.get_f64(chosen[i]));
    EXPECT_EQ(s.sh.get_f64(27 * i + 26), c.sh.get_f64(27 * chosen[i] + 26));
  }
  EXPECT_EQ(select(c, {}).size(), 0);
  expect_error<ArgumentError>([&] { select(c, std::vector<std::int64_t>{20}); }, "no Gaussian 20 among 20");
}

TEST(GaussianCloud, RegionsIncludeTheirLimits) {
  GaussianCloud c = make_gaussian_cloud(4, 0);
  const float means[] = {0, 0, 0, 1, 2, 2, 3, 0, 0.5f, nan, 0, 0};
  std::copy(std::begin(means), std::end(means), c.means.as_mutable<float>().begin());
  using Indices = std::vector<std::int64_t>;
  EXPECT_EQ(inside_box(c, {0, 0, 0}, {1, 2, 2}), (Indices{0, 1}));
  EXPECT_EQ(inside_box(c, {-infinity, -infinity, -infinity}, {infinity, infinity, infinity}), (Indices{0, 1, 2}));
  EXPECT_EQ(inside_box(c, {1, 1, 1}, {0, 0, 0}), Indices{});
  EXPECT_EQ(inside_sphere(c, {0, 0, 0}, 3), (Indices{0, 1}));
  EXPECT_EQ(inside_sphere(c, {3, 0, 0.5f}, 0), Indices{2});
  EXPECT_EQ(inside_sphere(c, {0, 0, 0}, infinity), (Indices{0, 1, 2}));
  for (const float radius : {-1.0f, nan})
    expect_error<ArgumentError>([&] { inside_sphere(c, {0, 0, 0}, radius); }, "a sphere of radius");
  c.opacity_logits.as_mutable<float>()[1] = nan;  // Inside, and yet not to be drawn.
  EXPECT_EQ(inside_box(c, {0, 0, 0}, {1, 2, 2}), Indices{0});
  EXPECT_EQ(inside_sphere(c, {0, 0, 0}, 3), Indices{0});
}

TEST(GaussianFile, TheSuffixTellsTheFormat) {
  const TempFolder temp;
  const GaussianCloud c = random_cloud(5, 0);
  for (const char* name : {"x.ply", "x.spz", "x.splat"}) {
    write_gaussians(temp / name, c);
    EXPECT_EQ(read_gaussians(temp / name).size(), 5) << name;
  }
  expect_error<ArgumentError>([&] { read_gaussians("x.obj"); }, ".ply, .spz or .splat");
  expect_error<ArgumentError>([&] { write_gaussians("x", c); }, ".ply, .spz or .splat");
}

}  // namespace

}  // namespace rlx::formats::testing
