#include "splat/train/strategy.hpp"

#include <algorithm>

namespace rlx::splat::train {

namespace {

class Fixed : public Strategy {
  void after_step(State&) const override {}
};

}  // namespace

double largest_scale(const State& s, std::int64_t row) {
  const float* x = s.values[scales].as<float>().data() + 3 * row;
  return std::exp(static_cast<double>(std::max({x[0], x[1], x[2]})));
}

std::unique_ptr<Strategy> make_strategy(const TrainOptions& o, double extent) {
  switch (o.densification) {
    case Densification::adaptive:
      return make_adaptive(o, extent);
    case Densification::mcmc:
      return make_mcmc(o);
    case Densification::fixed:
      break;
  }
  return std::make_unique<Fixed>();
}

}  // namespace rlx::splat::train
