#include "splat/train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rlx::splat::train {

std::size_t ViewOrder::at(std::int64_t step) {
  const auto n = static_cast<std::int64_t>(views_.size());
  if (const std::int64_t epoch = step / n; epoch != epoch_) {
    epoch_ = epoch;
    order_ = views_;
    Random random(seed_, for_views, static_cast<std::uint64_t>(epoch));
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
  }
  return order_[static_cast<std::size_t>(step % n)];
}

StepNumbers numbers_of(const TrainOptions& o, double extent, std::int64_t step, std::size_t view) {
  const TrainRates& r = o.rates;
  const double done = std::min(1.0, static_cast<double>(step) / static_cast<double>(o.steps));
  const double mean_rate = extent * std::exp(std::log(r.means) * (1 - done) + std::log(r.last_means) * done);
  StepNumbers n;
  n.view = static_cast<std::int64_t>(view);
  n.rates[means] = mean_rate;
  n.rates[quats] = r.quats;
  n.rates[scales] = r.scales;
  n.rates[opacities] = r.opacities;
  n.rates[colours] = r.colours;
  n.rates[harmonics] = r.harmonics;
  for (const Group g : {quats, scales, opacities, colours, harmonics})
    n.rates[g] *= std::pow(r.last_share, std::max(0.0, 2 * done - 1));
  n.rates[poses] = r.poses;
  n.rates[exposures] = r.exposures;
  n.noise = mean_rate * o.mcmc.noise;
  n.degree = static_cast<int>(std::min<std::int64_t>(o.degree, step / o.degree_every));
  n.background = o.background;
  if (o.random_background) {
    Random random(o.seed, for_backgrounds, static_cast<std::uint64_t>(step));
    for (float& c : n.background) c = static_cast<float>(random.uniform());
  }
  return n;
}

bool refines(const TrainOptions& o, std::int64_t step) {
  return o.densification != Densification::fixed && step > o.refine_from && step < o.refine_until &&
         step % o.refine_every == 0;
}

}  // namespace rlx::splat::train
