#include "splat/train/schedule.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace rlx::splat {

static std::string shown(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

void check(const TrainOptions& o) {
  const auto fail = [](const std::string& option, double value, const char* range) {
    throw ArgumentError("training: " + option + " is " + shown(value) + ", not " + range);
  };
  const auto at_least = [&](const char* option, double value, double least) {
    if (!(value >= least) || std::isinf(value)) fail(option, value, ("at least " + shown(least)).c_str());
  };
  at_least("steps", static_cast<double>(o.steps), 1);
  if (o.degree < 0 || o.degree > formats::highest_sh_degree) fail("degree", o.degree, "0 to 4");
  at_least("degree_every", static_cast<double>(o.degree_every), 1);
  if (!(o.ssim >= 0 && o.ssim <= 1)) fail("ssim", o.ssim, "0 to 1");
  for (const auto& [name, weight] :
       {std::pair{"opacity_regularizer", o.opacity_regularizer}, std::pair{"scale_regularizer", o.scale_regularizer}})
    if (!std::isfinite(weight)) fail(name, weight, "a finite number");
  const TrainRates& r = o.rates;
  for (const auto& [name, rate] :
       std::initializer_list<std::pair<const char*, double>>{{"rates.means", r.means},
                                                             {"rates.last_means", r.last_means},
                                                             {"rates.quats", r.quats},
                                                             {"rates.scales", r.scales},
                                                             {"rates.opacities", r.opacities},
                                                             {"rates.colours", r.colours},
                                                             {"rates.harmonics", r.harmonics},
                                                             {"rates.poses", r.poses},
                                                             {"rates.exposures", r.exposures}})
    at_least(name, rate, 0);
  if (!(r.last_share > 0 && r.last_share <= 1)) fail("rates.last_share", r.last_share, "above 0 to 1");
  if ((r.means > 0) != (r.last_means > 0))
    fail("rates.last_means", r.last_means, "0 where rates.means is 0, and only there");
  for (const float x : o.background)
    if (!(x >= 0 && x <= 1)) fail("background", x, "0 to 1");
  at_least("random_points", static_cast<double>(o.random_points), 1);
  at_least("most", static_cast<double>(o.most), 1);
  at_least("refine_every", static_cast<double>(o.refine_every), 1);
  at_least("refine_from", static_cast<double>(o.refine_from), 0);
  at_least("refine_until", static_cast<double>(o.refine_until), -1);
  at_least("adaptive.gradient", o.adaptive.gradient, 0);
  at_least("adaptive.split_scale", o.adaptive.split_scale, 0);
  at_least("adaptive.largest_scale", o.adaptive.largest_scale, 0);
  at_least("adaptive.largest_radius", o.adaptive.largest_radius, 0);
  at_least("adaptive.reset_every", static_cast<double>(o.adaptive.reset_every), 1);
  for (const auto& [name, opacity] : {std::pair{"adaptive.least_opacity", o.adaptive.least_opacity},
                                      std::pair{"mcmc.least_opacity", o.mcmc.least_opacity}})
    if (!(opacity > 0 && opacity < 0.5)) fail(name, opacity, "between 0 and 0.5");
  at_least("mcmc.growth", o.mcmc.growth, 1);
  at_least("mcmc.noise", o.mcmc.noise, 0);
  at_least("hold_out_every", o.hold_out_every, 0);
}

namespace train {

TrainOptions resolved(TrainOptions o) {
  const bool mcmc = o.densification == Densification::mcmc;
  if (o.refine_until < 0) o.refine_until = mcmc ? o.steps * 5 / 6 : o.steps / 2;
  for (double* weight : {&o.opacity_regularizer, &o.scale_regularizer})
    if (*weight < 0) *weight = mcmc ? 0.01 : 0;
  return o;
}

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
  const double mean_rate =
      r.means > 0 ? extent * std::exp(std::log(r.means) * (1 - done) + std::log(r.last_means) * done) : 0;
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

}  // namespace train
}  // namespace rlx::splat
