// Training on a capture that was made: 24 images of 200 x 200 of a scene of 2,000 Gaussians, and 8 that are held out.
// Both densifications, from random places and from points that were moved: decibels on held-out views beside the least
// that counts, decibels below the training views beside the most, and minutes beside the limit.
#include "benchmarks/bench.hpp"

#include <rlx/splat/train.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace rlx;

namespace {

void measure(const std::string& name, splat::Densification densification, splat::Start start) {
  const splat::Capture capture = splat::capture_scene(splat::synthetic_scene(2000),
                                                      {.views = 32, .width = 200, .height = 200, .point_noise = 0.02});
  const char* steps = std::getenv("RLX_BENCH_STEPS");
  splat::TrainOptions o;
  o.steps = steps ? std::atoll(steps) : 1500;
  o.degree = 1;
  o.densification = densification;
  o.start = start;
  o.random_points = o.most = 4000;  // Of random places many are inside of what hides them.
  o.rates.scales = 1e-2;            // The steps are a twentieth of those that the usual rate is made for.
  o.hold_out_every = 4;
  const auto begin = std::chrono::steady_clock::now();
  splat::Trainer trainer(capture, o);
  while (trainer.steps_done() < o.steps) {
    const auto r = trainer.step();
    if (r.step % 500 == 0)
      std::fprintf(stderr, "%s step %lld loss %.4f count %lld seconds %.1f\n", name.c_str(),
                   static_cast<long long>(r.step), r.loss, static_cast<long long>(r.gaussians),
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  const double minutes = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 60;
  const auto seen = trainer.quality(trainer.training_views()), unseen = trainer.quality(trainer.held_out_views());
  std::fprintf(stderr, "%s train %.2f dB %.4f held out %.2f dB %.4f count %lld seconds %.1f programs %zu\n",
               name.c_str(), seen.psnr, seen.ssim, unseen.psnr, unseen.ssim,
               static_cast<long long>(trainer.gaussians()), 60 * minutes, trainer.programs());
  bench::row("splat_train_" + name + "_held_out", unseen.psnr, 30, "dB", unseen.psnr / 30, 1);
  bench::row("splat_train_" + name + "_gap", seen.psnr - unseen.psnr, 3, "dB",
             3 / std::max(seen.psnr - unseen.psnr, 1e-3), 1);
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
