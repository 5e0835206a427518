// How Gaussians come and go: changes of the state between steps, on the host. Programs are compiled for a capacity, so
// most of them change only what stands in the places and how many are in use.
#pragma once
#include <rlx/splat/train.hpp>

#include <cmath>
#include <memory>
#include <vector>

#include "splat/random.hpp"
#include "splat/train/state.hpp"

namespace rlx::splat::train {

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Whatever is due after step s.step. A function of its arguments: a run that is taken up again goes on alike.
  virtual void after_step(State& s) const = 0;
};

/// `options` are resolved ones.
std::unique_ptr<Strategy> make_strategy(const TrainOptions& options, double extent);
std::unique_ptr<Strategy> make_adaptive(const TrainOptions& options, double extent);
std::unique_ptr<Strategy> make_mcmc(const TrainOptions& options);

/// The factor on the scales of a Gaussian of opacity `before` of which there are `copies` from now on, each of opacity
/// 1 - (1 - before)^(1 / copies): together they look as it did (Kheradmand 2024, equation 9 of the supplement).
double relocated_scale(double before, std::int64_t copies);

inline double probability(float logit) { return 1 / (1 + std::exp(-static_cast<double>(logit))); }
inline double logit(double probability) { return std::log(probability / (1 - probability)); }

/// A Gaussian's larger axis.
double largest_scale(const State& s, std::int64_t row);
/// Rows to keep, of all `count` of them.
template <class Keep>
std::vector<std::int64_t> rows_where(std::int64_t count, const Keep& keep) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; ++i)
    if (keep(i)) rows.push_back(i);
  return rows;
}

}  // namespace rlx::splat::train
