// Adaptive density control (Kerbl 2023, section 5): where the gradient in the image is large, small Gaussians are
// cloned and large ones split in two; faint and huge ones are pruned; opacities are reset now and then.
#include <algorithm>
#include <array>
#include <cmath>

#include "splat/train/schedule.hpp"
#include "splat/train/strategy.hpp"

namespace rlx::splat::train {

namespace {

/// Row-major; of a quaternion of any length, none of length 0.
std::array<double, 9> rotation(const float* q) {
  const double length = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
  if (length == 0) return {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double w = q[0] / length, x = q[1] / length, y = q[2] / length, z = q[3] / length;
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

class Adaptive : public Strategy {
 public:
  Adaptive(const TrainOptions& o, double extent) : o_(o), extent_(extent) {}

  void after_step(State& s) const override {
    if (refines(o_, s.step)) {
      grow(s);
      prune(s);
      clear_statistics(s);
    }
    if (s.step < o_.refine_until && s.step % o_.adaptive.reset_every == 0) reset(s);
  }

 private:
  void grow(State& s) const {
    const auto sum = s.statistic[gradients].as<float>(), seen = s.statistic[sights].as<float>();
    std::vector<std::int64_t> cloned, split;
    std::int64_t left = o_.most - s.count;
    for (std::int64_t i = 0; i < s.count && left > 0; ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (!(seen[k] > 0) || sum[k] / seen[k] < o_.adaptive.gradient) continue;
      (largest_scale(s, i) > o_.adaptive.split_scale * extent_ ? split : cloned).push_back(i);
      --left;
    }
    std::vector<bool> gone(static_cast<std::size_t>(s.count));
    for (const std::int64_t i : split) gone[static_cast<std::size_t>(i)] = true;
    std::vector<std::int64_t> rows =
        rows_where(s.count, [&](std::int64_t i) { return !gone[static_cast<std::size_t>(i)]; });
    const auto kept = static_cast<std::int64_t>(rows.size());
    rows.insert(rows.end(), cloned.begin(), cloned.end());
    const auto first_half = static_cast<std::int64_t>(rows.size());
    for (int half = 0; half < 2; ++half) rows.insert(rows.end(), split.begin(), split.end());
    select_rows(s, rows, kept);
    scatter_halves(s, first_half);
  }

  /// Rows from `first` on are copies of Gaussians to be split: each becomes a smaller one, somewhere in its own shape.
  void scatter_halves(State& s, std::int64_t first) const {
    constexpr double shrink = 1.6;
    Random random(o_.seed, for_densification, static_cast<std::uint64_t>(s.step));
    float* mean = s.values[means].as_mutable<float>().data();
    float* scale = s.values[scales].as_mutable<float>().data();
    const float* q = s.values[quats].as<float>().data();
    for (std::int64_t i = first; i < s.count; ++i) {
      const auto r = rotation(q + 4 * i);
      std::array<double, 3> along;
      for (std::size_t k = 0; k < 3; ++k)
        along[k] = std::exp(static_cast<double>(scale[3 * i + static_cast<std::int64_t>(k)])) * random.normal();
      for (std::int64_t k = 0; k < 3; ++k) {
        const auto row = static_cast<std::size_t>(3 * k);
        mean[3 * i + k] += static_cast<float>(r[row] * along[0] + r[row + 1] * along[1] + r[row + 2] * along[2]);
        scale[3 * i + k] -= static_cast<float>(std::log(shrink));
      }
    }
  }

  void prune(State& s) const {
    const AdaptiveOptions& a = o_.adaptive;
    const float* logits = s.values[opacities].as<float>().data();
    const float* radius = s.statistic[radii].as<float>().data();
    const bool sizes = s.step > a.reset_every;
    const auto kept = rows_where(s.count, [&](std::int64_t i) {
      if (probability(logits[i]) < a.least_opacity) return false;
      if (!sizes) return true;
      return !(a.largest_radius > 0 && radius[i] > a.largest_radius) &&
             !(a.largest_scale > 0 && largest_scale(s, i) > a.largest_scale * extent_);
    });
    // A scene of which nothing is left could not recover: it is for the loss to tell that it is no good.
    if (!kept.empty() && static_cast<std::int64_t>(kept.size()) < s.count) select_rows(s, kept);
  }

  void reset(State& s) const {
    const auto most = static_cast<float>(logit(2 * o_.adaptive.least_opacity));
    float* logits = s.values[opacities].as_mutable<float>().data();
    for (std::int64_t i = 0; i < s.count; ++i) logits[i] = std::min(logits[i], most);
    clear_moments(s, opacities);
  }

  TrainOptions o_;
  double extent_;
};

}  // namespace

std::unique_ptr<Strategy> make_adaptive(const TrainOptions& o, double extent) {
  return std::make_unique<Adaptive>(o, extent);
}

}  // namespace rlx::splat::train
