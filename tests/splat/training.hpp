// Small captures and runs for the tests of training.
#pragma once
#include <rlx/splat/train.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <unistd.h>

namespace rlx::splat::testing {

/// Eight views of 48 x 48 pixels of 200 Gaussians, from the horizon up: far apart, so that what is learnt of one shows.
inline Capture small_capture(double point_noise = 0.02, std::uint64_t seed = 0) {
  return capture_scene(
      synthetic_scene(200, seed),
      {.views = 8, .width = 48, .height = 48, .lowest_elevation = 0, .point_noise = point_noise, .device = "cpu"});
}

inline TrainOptions small_options(Densification densification = Densification::fixed, std::int64_t steps = 60) {
  TrainOptions o;
  o.steps = steps;
  o.degree = 1;
  o.degree_every = 20;
  o.densification = densification;
  o.random_points = 200;
  o.most = 400;
  o.refine_every = 10;
  o.refine_from = 10;
  o.hold_out_every = 4;
  o.device = "cpu";
  return o;
}

inline void train_to(Trainer& t, std::int64_t step) {
  while (t.steps_done() < step) t.step();
}

inline void expect_same(const formats::GaussianCloud& a, const formats::GaussianCloud& b) {
  EXPECT_EQ(a.means, b.means);
  EXPECT_EQ(a.log_scales, b.log_scales);
  EXPECT_EQ(a.quaternions, b.quaternions);
  EXPECT_EQ(a.opacity_logits, b.opacity_logits);
  EXPECT_EQ(a.sh, b.sh);
}

/// A folder of the test's own, removed at its end.
class Folder {
 public:
  Folder() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("rlx_" + std::string(info->test_suite_name()) + "_" + info->name() + "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace rlx::splat::testing
