// Training: Gaussians whose renders are the images of a capture. A step - render, loss, gradients, Adam - is one
// compiled program from state to state. B. Kerbl et al., 3D Gaussian Splatting, ACM TOG 42 (2023), with the
// densification of that paper or of S. Kheradmand et al., 3D Gaussian Splatting as Markov Chain Monte Carlo, NeurIPS
// 2024.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/splat/capture.hpp>
#include <rlx/splat/render.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rlx::splat {

/// How Gaussians come and go. adaptive: clone, split and prune by the gradients of means in the image, with resets of
/// opacity (Kerbl 2023). mcmc: a growing number up to a most, where dead ones are moved to live ones and noise explores
/// (Kheradmand 2024). fixed: the number stays.
enum class Densification : std::uint8_t { adaptive, mcmc, fixed };
enum class Start : std::uint8_t { points, random };

/// Steps of Adam, in units of the property before its activation.
struct TrainRates {
  double means = 1.6e-4, last_means = 1.6e-6;  ///< Times the extent of the scene; decays exponentially to the last.
  double quats = 1e-3, scales = 5e-3, opacities = 5e-2;
  double colours = 2.5e-3;                ///< Harmonics of degree 0.
  double harmonics = 2.5e-3 / 20;         ///< Those of higher degrees.
  double poses = 1e-4, exposures = 1e-3;  ///< Where they are refined.
  /// What of the rates of shapes, opacities and colours is left at the end: they decay exponentially over the second
  /// half of the steps, and with them the noise of steps that look at one view each.
  double last_share = 0.1;
};

struct AdaptiveOptions {
  double gradient = 2e-4;  ///< Mean gradient in the image from which on Gaussians are made, in units of half an image.
  bool absolute = false;   ///< Of the sums of magnitudes over pixels instead (Z. Ye et al., AbsGS, 2024); 8e-4 fits it.
  double split_scale = 0.01;    ///< Of the extent: larger ones are split, the others cloned.
  double least_opacity = 5e-3;  ///< What is below is pruned.
  /// Of the extent, and of the larger side of an image: after the first reset, what is larger is pruned. 0: nothing.
  double largest_scale = 0.1, largest_radius = 0.15;
  std::int64_t reset_every = 3000;  ///< Steps after which opacities are set to 2 * least_opacity at most.
};

struct McmcOptions {
  double growth = 1.05;         ///< Of the number, each time.
  double least_opacity = 5e-3;  ///< What is not above is dead.
  double noise = 5e5;           ///< Of the rate of means.
};

struct TrainOptions {
  std::int64_t steps = 30000;
  int degree = 3;                    ///< Of harmonics, 0 to 4.
  std::int64_t degree_every = 1000;  ///< Steps after which the degree in use rises by one.
  double ssim = 0.2;                 ///< Share of 1 - SSIM in the loss; the rest is the mean absolute difference.
  /// Times the mean opacity and the mean scale, added to the loss. Negative: 0.01 with mcmc, as its authors do, else 0.
  double opacity_regularizer = -1, scale_regularizer = -1;
  RenderMode mode = RenderMode::classic;
  std::array<float, 3> background{};
  bool random_background = false;  ///< Another colour each step.
  TrainRates rates{};

  Start start = Start::points;
  std::int64_t random_points = 10000;  ///< Of a random start.
  Densification densification = Densification::adaptive;
  std::int64_t most = 1'000'000;                       ///< Gaussians.
  std::int64_t refine_every = 100, refine_from = 500;  ///< Steps.
  std::int64_t refine_until = -1;                      ///< -1: half of the steps with adaptive, five of six with mcmc.
  AdaptiveOptions adaptive{};
  McmcOptions mcmc{};

  bool refine_poses = false;  ///< Of training views.
  bool exposures = false;     ///< An affine map of colours for each training view.
  int hold_out_every = 8;     ///< Views 0, 8, 16, ... are not trained on; 0: none is held out.
  std::uint64_t seed = 0;
  std::string device{};  ///< Empty: default_device().
};

/// Throws ArgumentError, naming the option, for what is out of its range.
RLX_API void check(const TrainOptions& options);

struct StepResult {
  std::int64_t step = 0;  ///< Done so far, this one included.
  std::size_t view = 0;   ///< What was looked at.
  double loss = 0;
  std::int64_t gaussians = 0;
};

/// Means over views.
struct Quality {
  double psnr = 0;  ///< Decibels, of images with values 0 to 1.
  double ssim = 0;
  std::size_t views = 0;
};

struct HistoryEntry {
  std::int64_t step = 0;
  double loss = 0;  ///< Mean since the entry before.
  std::int64_t gaussians = 0;
};

/// A run. With the same capture, options and device it makes the same bits, also when it is taken up again from a
/// checkpoint.
class RLX_API Trainer {
 public:
  /// Starts anew. Throws what check() of capture and options throw, and ArgumentError where every view is held out or a
  /// start from points has none.
  Trainer(Capture capture, TrainOptions options);
  /// Goes on from a checkpoint. Throws FormatError for a file that is none, ArgumentError, naming the file, for one of
  /// another capture or of other options than these.
  Trainer(Capture capture, TrainOptions options, const std::string& checkpoint);
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  /// One step, and the densification that is due after it. Throws NumericalError with the step and the name of the
  /// tensor where something is not finite any more: the run is then as it was before the step, which would fail again.
  /// What fails otherwise while the step runs has used the run up: step, cloud, render, quality and save are
  /// ArgumentErrors from then on.
  StepResult step();
  std::int64_t steps_done() const;
  std::int64_t gaussians() const;
  const std::vector<HistoryEntry>& history() const;  ///< An entry each 100 steps.
  std::size_t programs() const;                      ///< Compiled for steps so far: one a capacity and size of image.

  formats::GaussianCloud cloud() const;
  const Capture& capture() const;
  const TrainOptions& options() const;
  std::vector<std::size_t> training_views() const, held_out_views() const;
  /// f32 [height, width, 3] of a view, with what was learnt about it where it is trained on.
  HostTensor render(std::size_t view);
  Quality quality(const std::vector<std::size_t>& views);
  /// HDF5, replaced whole or not at all.
  void save(const std::string& checkpoint) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// u8: for each view a row, the image beside the render and their difference, reduced to at most `width` pixels a tile.
RLX_API HostTensor contact_sheet(Trainer& trainer, const std::vector<std::size_t>& views, std::int64_t width = 320);
/// SVG: loss, on a logarithmic scale, and number of Gaussians over steps.
RLX_API std::string history_plot(const std::vector<HistoryEntry>& history);

}  // namespace rlx::splat
