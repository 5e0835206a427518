// Training on captures that were made: 24 images of 200 x 200 of a scene of 2,000 Gaussians, and 8 that are held out,
// on a walk around it from above down to 30 degrees. Both densifications, from random places and from points that were
// moved. Of three scenes the worst: decibels on held-out views beside the least that counts, decibels below the
// training views beside the most, minutes of a training beside the limit; and the training views beside the held-out
// ones of the scene where they are farthest apart.
#include "benchmarks/bench.hpp"

#include <rlx/splat/train.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace rlx;

namespace {

struct Outcome {
  double seen, unseen, minutes;  // dB, dB
  double gap() const { return seen - unseen; }
};

Outcome trained(const std::string& name, std::uint64_t scene, splat::Densification densification, splat::Start start) {
  const splat::Capture capture = splat::capture_scene(splat::synthetic_scene(2000, scene),
                                                      {.views = 32, .width = 200, .height = 200, .point_noise = 0.02});
  const char* steps = std::getenv("RLX_BENCH_STEPS");
  splat::TrainOptions o;
  o.steps = steps ? std::atoll(steps) : 1500;
  o.degree = 1;
  o.densification = densification;
  o.start = start;
  o.most = 2500;  // Not many more than the points: what they cannot tell apart would be fitted to the views.
  if (start == splat::Start::random) {
    o.random_points = o.most = 4000;  // Many are inside of what hides them,
    o.rates.scales = 1e-2;            // and the others have few steps to grow in.
  }
  o.hold_out_every = 4;
  const auto begin = std::chrono::steady_clock::now();
  splat::Trainer trainer(capture, o);
  while (trainer.steps_done() < o.steps) trainer.step();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto seen = trainer.quality(trainer.training_views()), unseen = trainer.quality(trainer.held_out_views());
  std::fprintf(stderr, "%s of scene %d: held out %.2f dB, SSIM %.4f; training %.2f dB, %.4f; %lld Gaussians, %.1f s\n",
               name.c_str(), static_cast<int>(scene), unseen.psnr, unseen.ssim, seen.psnr, seen.ssim,
               static_cast<long long>(trainer.gaussians()), seconds);
  return {seen.psnr, unseen.psnr, seconds / 60};
}

void measure(const std::string& name, splat::Densification densification, splat::Start start) {
  std::vector<Outcome> all;
  for (const std::uint64_t scene : {0, 1, 2}) all.push_back(trained(name, scene, densification, start));
  const auto apart = std::ranges::max(all, {}, &Outcome::gap);
  const double held_out = std::ranges::min(all, {}, &Outcome::unseen).unseen,
               minutes = std::ranges::max(all, {}, &Outcome::minutes).minutes;
  bench::row("splat_train_" + name + "_held_out", held_out, 30, "dB", held_out / 30, 1);
  bench::row("splat_train_" + name + "_training", apart.seen, apart.unseen, "dB", apart.seen / apart.unseen, 0);
  bench::row("splat_train_" + name + "_gap", apart.gap(), 3, "dB", 3 / std::max(apart.gap(), 1e-3), 1);
  bench::row("splat_train_" + name, minutes, 10, "min", 10 / minutes, 1);
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto densification : {splat::Densification::adaptive, splat::Densification::mcmc})
    for (const auto start : {splat::Start::random, splat::Start::points}) {
      const std::string name = std::string(densification == splat::Densification::mcmc ? "mcmc" : "adaptive") +
                               (start == splat::Start::random ? "_random" : "_points");
      bench::add(name, [=] { measure(name, densification, start); });
    }
  return bench::run(argc, argv);
}
