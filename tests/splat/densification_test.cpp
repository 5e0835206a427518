// How Gaussians come and go, on states that are written down.
#include "training.hpp"

#include <cmath>

#include "splat/train/schedule.hpp"
#include "splat/train/strategy.hpp"

namespace rlx::splat::testing {
namespace {

using namespace train;

/// Gaussians in a row with these scales and opacities, at step 20, where small_options() refine.
State row_of(const std::vector<std::pair<double, double>>& scales_and_opacities) {
  const auto n = static_cast<std::int64_t>(scales_and_opacities.size());
  formats::GaussianCloud c = formats::make_gaussian_cloud(n, 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto [scale, opacity] = scales_and_opacities[static_cast<std::size_t>(i)];
    c.means.set_f64(3 * i, static_cast<double>(i));
    c.quaternions.set_f64(4 * i, 1);
    for (int k = 0; k < 3; ++k) c.log_scales.set_f64(3 * i + k, std::log(scale));
    c.opacity_logits.set_f64(i, logit(opacity));
  }
  State s = make_state(c, 1);
  s.step = 20;
  for (auto* list : {&s.first, &s.second})
    for (HostTensor& t : *list) std::ranges::fill(t.as_mutable<float>(), 1.0f);
  return s;
}

void see(State& s, const std::vector<float>& mean_gradients) {
  for (std::size_t i = 0; i < mean_gradients.size(); ++i) {
    s.statistic[gradients].as_mutable<float>()[i] = 4 * mean_gradients[i];
    s.statistic[sights].as_mutable<float>()[i] = 4;
  }
}

double mean(const State& s, std::int64_t i) { return s.values[means].get_f64(3 * i); }

TEST(AdaptiveDensity, ClonesSmallSplitsLargePrunesFaint) {
  // Extent 1: scales above 0.01 are large.
  State s = row_of({{0.005, 0.5}, {0.05, 0.5}, {0.005, 0.5}, {0.005, 0.001}});
  see(s, {1e-3f, 1e-3f, 1e-5f, 0});
  make_adaptive(resolved(small_options(Densification::adaptive)), 1)->after_step(s);
  // Kept: the first and the third; a clone of the first; two halves of the second.
  ASSERT_EQ(s.count, 5);
  EXPECT_EQ(mean(s, 0), 0);
  EXPECT_EQ(mean(s, 1), 2);
  EXPECT_EQ(mean(s, 2), 0);
  EXPECT_EQ(s.values[scales].get_f64(6), s.values[scales].get_f64(0));
  for (const std::int64_t half : {3, 4}) {
    EXPECT_NEAR(mean(s, half), 1, 5 * 0.05);  // Within five deviations.
    EXPECT_NE(mean(s, half), 1);
    EXPECT_NEAR(s.values[scales].get_f64(3 * half), std::log(0.05 / 1.6), 1e-6);
  }
  EXPECT_NE(mean(s, 3), mean(s, 4));
  // Moments stay with those that stay and begin at 0 for the others, and for places that are not in use.
  for (const auto& [row, moment] : {std::pair{0, 1.0}, {1, 1.0}, {2, 0.0}, {3, 0.0}, {4, 0.0}, {5, 0.0}})
    EXPECT_EQ(s.first[means].get_f64(3 * row), moment) << row;
  EXPECT_EQ(s.values[quats].get_f64(4 * 5), 0);
  EXPECT_EQ(s.statistic[sights].get_f64(0), 0);
}

TEST(AdaptiveDensity, KeepsToTheMost) {
  State s = row_of({{0.005, 0.5}, {0.05, 0.5}, {0.005, 0.5}});
  see(s, {1, 1, 1});
  TrainOptions o = resolved(small_options(Densification::adaptive));
  o.most = 4;
  make_adaptive(o, 1)->after_step(s);
  EXPECT_EQ(s.count, 4);
}

TEST(AdaptiveDensity, ResetsOpacitiesAndPrunesWhatIsHugeAfterwards) {
  TrainOptions o = resolved(small_options(Densification::adaptive));
  o.adaptive.reset_every = 20;
  o.refine_until = 100;
  State s = row_of({{0.005, 0.5}, {0.5, 0.5}, {0.005, 0.006}});
  make_adaptive(o, 1)->after_step(s);
  ASSERT_EQ(s.count, 3);
  EXPECT_NEAR(probability(s.values[opacities].as<float>()[0]), 0.01, 1e-6);
  EXPECT_NEAR(probability(s.values[opacities].as<float>()[2]), 0.006, 1e-6);
  EXPECT_EQ(s.first[opacities].get_f64(0), 0);
  EXPECT_EQ(s.first[means].get_f64(0), 1);
  s.step = 30;
  s.statistic[radii].as_mutable<float>()[2] = 0.2f;  // Of the image.
  make_adaptive(o, 1)->after_step(s);
  EXPECT_EQ(s.count, 1);
}

TEST(Mcmc, CopiesLookTogetherAsTheOneDid) {
  // The integral along a line through the middle, of n layers that hide each other, by the trapezoidal rule.
  for (const double opacity : {0.05, 0.5, 0.95})
    for (const std::int64_t n : {1, 2, 3, 7, 20}) {
      const double scale = relocated_scale(opacity, n), each = 1 - std::pow(1 - opacity, 1.0 / static_cast<double>(n));
      double before = 0, after = 0;
      for (double x = -12; x <= 12; x += 1e-3) {
        before += opacity * std::exp(-x * x / 2);
        after += 1 - std::pow(1 - each * std::exp(-x * x / (2 * scale * scale)), static_cast<double>(n));
      }
      EXPECT_NEAR(after / before, 1, 1e-6) << opacity << " " << n;
    }
}

TEST(Mcmc, MovesTheDeadAndGrowsUpToTheMost) {
  TrainOptions o = resolved(small_options(Densification::mcmc));
  std::vector<std::pair<double, double>> rows(38, {0.01, 0.5});
  rows.push_back({0.3, 0.004});
  rows.push_back({0.3, 0.001});
  State s = row_of(rows);
  make_mcmc(o)->after_step(s);
  EXPECT_EQ(s.count, 42);  // 5 % more.
  for (std::int64_t i = 0; i < s.count; ++i) {
    EXPECT_GT(probability(s.values[opacities].as<float>()[static_cast<std::size_t>(i)]), 0.1) << i;
    EXPECT_LT(mean(s, i), 38) << i;  // At the place of one of the living.
  }
  for (const std::int64_t row : {38, 39, 40, 41}) EXPECT_EQ(s.first[means].get_f64(3 * row), 0) << row;
  o.most = 42;
  make_mcmc(o)->after_step(s);
  EXPECT_EQ(s.count, 42);
}

TEST(Schedule, RatesDecayAndDegreesRise) {
  const TrainOptions o = resolved(small_options(Densification::adaptive, 100));
  EXPECT_NEAR(numbers_of(o, 2, 0, 0).rates[means], 3.2e-4, 1e-12);
  EXPECT_NEAR(numbers_of(o, 2, 50, 0).rates[means], 3.2e-5, 1e-12);
  EXPECT_NEAR(numbers_of(o, 2, 100, 0).rates[means], 3.2e-6, 1e-12);
  EXPECT_EQ(numbers_of(o, 2, 50, 0).rates[scales], o.rates.scales);
  EXPECT_NEAR(numbers_of(o, 2, 75, 0).rates[scales], o.rates.scales * std::sqrt(0.1), 1e-12);
  EXPECT_NEAR(numbers_of(o, 2, 100, 0).rates[colours], o.rates.colours * 0.1, 1e-12);
  EXPECT_EQ(numbers_of(o, 2, 19, 0).degree, 0);
  EXPECT_EQ(numbers_of(o, 2, 20, 0).degree, 1);
  EXPECT_EQ(numbers_of(o, 2, 99, 0).degree, 1);
  ViewOrder order({1, 2, 3, 5}, 7);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::size_t product = 1;
    for (std::int64_t k = 0; k < 4; ++k) product *= order.at(4 * epoch + k);
    EXPECT_EQ(product, 30u);
  }
}

}  // namespace
}  // namespace rlx::splat::testing
