// Densification as a Markov chain (Kheradmand 2024): Gaussians that have become invisible move to visible ones, which
// then share what they showed; the number grows by a factor up to a most. The noise that explores is part of the step.
#include <algorithm>
#include <cmath>

#include "splat/train/schedule.hpp"
#include "splat/train/strategy.hpp"

namespace rlx::splat::train {

namespace {

constexpr std::int64_t most_copies = 51;  // As in the program of the authors: the alternating sum stays exact.

/// Draws rows in proportion to their opacity.
class Lottery {
 public:
  Lottery(const State& s, const std::vector<std::int64_t>& rows) : rows_(rows) {
    const float* logits = s.values[opacities].as<float>().data();
    double total = 0;
    for (const std::int64_t row : rows) sums_.push_back(total += probability(logits[row]));
  }
  std::int64_t draw(Random& random) const {
    const auto at = std::upper_bound(sums_.begin(), sums_.end(), random.uniform() * sums_.back());
    return rows_[static_cast<std::size_t>(std::min<std::ptrdiff_t>(at - sums_.begin(), std::ssize(rows_) - 1))];
  }

 private:
  const std::vector<std::int64_t>& rows_;
  std::vector<double> sums_;
};

class Mcmc : public Strategy {
 public:
  explicit Mcmc(const TrainOptions& o) : o_(o) {}

  void after_step(State& s) const override {
    if (!refines(o_, s.step)) return;
    Random random(o_.seed, for_densification, static_cast<std::uint64_t>(s.step));
    relocate(s, random);
    add(s, random);
  }

 private:
  void relocate(State& s, Random& random) const {
    const float* logits = s.values[opacities].as<float>().data();
    std::vector<std::int64_t> dead, alive;
    for (std::int64_t i = 0; i < s.count; ++i)
      (probability(logits[i]) <= o_.mcmc.least_opacity ? dead : alive).push_back(i);
    if (dead.empty() || alive.empty()) return;
    const Lottery lottery(s, alive);
    std::vector<std::int64_t> rows = rows_where(s.count, [](std::int64_t) { return true; });
    std::vector<std::int64_t> chosen;
    for (const std::int64_t row : dead) {
      chosen.push_back(lottery.draw(random));
      rows[static_cast<std::size_t>(row)] = chosen.back();
    }
    share(s, chosen);
    select_rows(s, rows);
    for (const auto* list : {&dead, &chosen})
      for (const std::int64_t row : *list) clear_moments(s, row);
  }

  void add(State& s, Random& random) const {
    const auto wanted = static_cast<std::int64_t>(o_.mcmc.growth * static_cast<double>(s.count));
    const std::int64_t more = std::min(o_.most, wanted) - s.count;
    if (more <= 0) return;
    std::vector<std::int64_t> rows = rows_where(s.count, [](std::int64_t) { return true; }), chosen;
    const Lottery lottery(s, rows);
    for (std::int64_t i = 0; i < more; ++i) chosen.push_back(lottery.draw(random));
    share(s, chosen);
    const std::int64_t before = s.count;
    rows.insert(rows.end(), chosen.begin(), chosen.end());
    select_rows(s, rows, before);
  }

  /// Each of the rows gets as many copies as it was chosen: what all of them have from now on.
  void share(State& s, const std::vector<std::int64_t>& chosen) const {
    std::vector<std::int64_t> copies(static_cast<std::size_t>(s.count), 1);
    for (const std::int64_t row : chosen) ++copies[static_cast<std::size_t>(row)];
    float* logits = s.values[opacities].as_mutable<float>().data();
    float* scale = s.values[scales].as_mutable<float>().data();
    for (std::int64_t i = 0; i < s.count; ++i) {
      const std::int64_t n = std::min(copies[static_cast<std::size_t>(i)], most_copies);
      if (n == 1) continue;
      const double before = probability(logits[i]);
      const double after = 1 - std::pow(1 - before, 1 / static_cast<double>(n));
      const auto longer = static_cast<float>(std::log(relocated_scale(before, n)));
      for (std::int64_t k = 0; k < 3; ++k) scale[3 * i + k] += longer;
      logits[i] = static_cast<float>(logit(std::clamp(after, o_.mcmc.least_opacity, 1 - 1e-7)));
    }
  }

  TrainOptions o_;
};

}  // namespace

double relocated_scale(double before, std::int64_t copies) {
  const double after = 1 - std::pow(1 - before, 1 / static_cast<double>(copies));
  double sum = 0;
  for (std::int64_t i = 1; i <= copies; ++i) {
    double binomial = 1, power = after;  // (i - 1 over k), after^(k + 1)
    for (std::int64_t k = 0; k < i; ++k) {
      sum += (k % 2 == 0 ? 1 : -1) * binomial * power / std::sqrt(static_cast<double>(k + 1));
      binomial *= static_cast<double>(i - 1 - k) / static_cast<double>(k + 1);
      power *= after;
    }
  }
  return before / sum;
}

std::unique_ptr<Strategy> make_mcmc(const TrainOptions& o) { return std::make_unique<Mcmc>(o); }

}  // namespace rlx::splat::train
