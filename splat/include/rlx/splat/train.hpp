// Training: Gaussians whose renders are the images of a capture. A step - render, loss, gradients, Adam - is one
// compiled program from state to state. B. Kerbl et al., 3D Gaussian Splatting, ACM TOG 42 (2023), with the
// densification of that paper or of S. Kheradmand et al., 3D Gaussian Splatting as Markov Chain Monte Carlo, NeurIPS
// 2024.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/splat/capture.hpp>
#include <rlx/splat/train_options.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rlx::splat {

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
  /// What fails otherwise while the step runs has used the run up (Error::object_survives() is false): step, cloud,
  /// render, quality and save are ArgumentErrors from then on.
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
