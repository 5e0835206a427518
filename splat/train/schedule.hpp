// What changes in the course of a run, as functions of the step.
#pragma once
#include <rlx/splat/train.hpp>

#include "splat/random.hpp"
#include "splat/train/options.hpp"
#include "splat/train/step.hpp"

namespace rlx::splat::train {

/// What random numbers are for.
enum Purpose : std::uint64_t { for_views = 1, for_backgrounds, for_start, for_densification };

/// The training views come in another order each time that all of them were looked at.
class ViewOrder {
 public:
  ViewOrder(std::vector<std::size_t> views, std::uint64_t seed) : views_(std::move(views)), seed_(seed) {}
  std::size_t at(std::int64_t step);  ///< Counted from 0.

 private:
  std::vector<std::size_t> views_, order_{};
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
};

/// Rates and the like of the step that follows `step` others.
StepNumbers numbers_of(const TrainOptions& options, double extent, std::int64_t step, std::size_t view);

/// Whether Gaussians come and go after step number `step`, counted from 1.
bool refines(const TrainOptions& options, std::int64_t step);

}  // namespace rlx::splat::train
