// The programs of training: one for each capacity, size of image and length of the lists of tiles.
#pragma once
#include <rlx/jit.hpp>
#include <rlx/splat/train.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "splat/list_room.hpp"
#include "splat/train/state.hpp"

namespace rlx::splat::train {

/// A view as arrays: image u8 [height, width, 3], view [4, 4] and intrinsics [3, 3] f32.
struct ViewArrays {
  HostTensor image, view, intrinsics;
  std::int64_t height() const { return image.shape()[0]; }
  std::int64_t width() const { return image.shape()[1]; }
};

/// Numbers of one step.
struct StepNumbers {
  std::int64_t view = 0;
  std::array<double, groups> rates{};
  double noise = 0;  ///< Times covariance and normal numbers, added to means (mcmc).
  int degree = 0;
  std::array<float, 3> background{};
};

/// Of the leaves of the state and of what is looked at.
using StepProgram = Jit<std::function<Tensors(const Tensors&, const Tensors&)>>;

/// `options` are resolved ones.
class Programs {
 public:
  Programs(const TrainOptions& options, std::int64_t gaussians);

  /// The loss, and `s` after a step. A step whose lists of tiles did not fit is repeated with more room. Throws
  /// NumericalError, naming step and tensor, where something is not finite; `s` is then as it was.
  double step(State& s, const ViewArrays& view, const StepNumbers& numbers);
  /// f32 [height, width, 3]; `learnt` with the refined pose and exposure of the view.
  HostTensor picture(const State& s, const ViewArrays& view, const StepNumbers& numbers, bool learnt);

  std::size_t compiled() const;
  /// Of the calls of step programs: how many bytes of states were written over, and how many had to be copied first.
  runtime::ExecutableStatistics statistics() const;
  std::string kept_apart() const;  ///< Leaves of the state that are not written over, a line each, and why.

 private:
  using Key = std::array<std::int64_t, 3>;  // entries, height, width
  const StepProgram& step_program(const ViewArrays& view);
  const StepProgram& picture_program(const ViewArrays& view, bool learnt);
  RenderOptions render_options(const ViewArrays& view) const;

  TrainOptions options_;
  ListRoom room_;
  std::map<Key, std::unique_ptr<StepProgram>> steps_;
  std::array<std::map<Key, std::unique_ptr<StepProgram>>, 2> pictures_;  // without and with what was learnt of the view
};

}  // namespace rlx::splat::train
