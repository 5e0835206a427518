#include <rlx/formats/image.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/train.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "splat/emitted.hpp"
#include "splat/train/checkpoint.hpp"
#include "splat/train/schedule.hpp"
#include "splat/train/start.hpp"
#include "splat/train/strategy.hpp"

namespace rlx::splat {

using namespace train;

namespace {

constexpr std::int64_t history_every = 100;  // steps

Capture checked(Capture c) {
  check(c);
  return c;
}
TrainOptions checked(const TrainOptions& o) {
  check(o);
  return resolved(o);
}

bool held_out(const TrainOptions& o, std::size_t view) {
  return o.hold_out_every > 0 && view % static_cast<std::size_t>(o.hold_out_every) == 0;
}
std::vector<std::size_t> views_of(const Capture& c, const TrainOptions& o, bool wanted) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (held_out(o, i) == wanted) out.push_back(i);
  return out;
}
std::vector<std::size_t> some_training_views(const Capture& c, const TrainOptions& o) {
  auto views = views_of(c, o, false);
  if (views.empty())
    throw ArgumentError("training: hold_out_every is " + std::to_string(o.hold_out_every) + ", which leaves none of " +
                        counted(c.size(), "image") + " to train on");
  return views;
}

std::vector<ViewArrays> arrays_of(const Capture& c) {
  std::vector<ViewArrays> out;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const formats::Pinhole p = formats::pinhole_of(c.camera(i));
    const double lens[] = {p.fx, 0, p.cx, 0, p.fy, p.cy, 0, 0, 1};
    out.push_back({c.images[i], HostTensor::from(DType::f32, {4, 4}, formats::world_to_camera(c.pose(i))),
                   HostTensor::from(DType::f32, {3, 3}, lens)});
  }
  return out;
}

}  // namespace

class Trainer::Impl {
 public:
  Impl(Capture c, const TrainOptions& o, const std::string* checkpoint)
      : capture(checked(std::move(c))),
        options(checked(o)),
        extent(extent_of(capture)),
        order(some_training_views(capture, options), options.seed),
        views(arrays_of(capture)),
        strategy(make_strategy(options, extent)),
        run(checkpoint ? read_checkpoint(*checkpoint, options, capture)
                       : Checkpoint{make_state(first_gaussians(capture, options), std::ssize(views)), {}, 0}),
        programs(options, run.state.count) {}

  /// ArgumentError once a step has failed while it ran: the state that it was given is gone.
  void require_state() const {
    if (run.state.values[means].rank() == 0)
      throw ArgumentError("training: a step failed while it ran and has used up the state: go on from a checkpoint");
  }

  StepResult step() {
    require_state();
    State& s = run.state;
    const std::size_t view = order.at(s.step);
    const double loss = programs.step(s, views[view], numbers_of(options, extent, s.step, view));
    strategy->after_step(s);
    run.pending_loss += loss;
    if (s.step % history_every == 0) {
      run.history.push_back({s.step, run.pending_loss / history_every, s.count});
      run.pending_loss = 0;
    }
    return {s.step, view, loss, s.count};
  }

  HostTensor render(std::size_t view) {
    require_state();
    if (view >= views.size())
      throw ArgumentError("there is no view " + std::to_string(view) + ": the capture has " +
                          counted(views.size(), "view") + ", from 0");
    StepNumbers n = numbers_of(options, extent, run.state.step, view);
    n.background = options.background;
    return programs.picture(run.state, views[view], n, !held_out(options, view));
  }

  Capture capture;
  TrainOptions options;
  double extent;
  ViewOrder order;
  std::vector<ViewArrays> views;
  std::unique_ptr<Strategy> strategy;
  Checkpoint run;
  Programs programs;
};

Trainer::Trainer(Capture c, TrainOptions o) : impl_(std::make_unique<Impl>(std::move(c), o, nullptr)) {}
Trainer::Trainer(Capture c, TrainOptions o, const std::string& checkpoint)
    : impl_(std::make_unique<Impl>(std::move(c), o, &checkpoint)) {}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

StepResult Trainer::step() { return impl_->step(); }
std::int64_t Trainer::steps_done() const { return impl_->run.state.step; }
std::int64_t Trainer::gaussians() const { return impl_->run.state.count; }
const std::vector<HistoryEntry>& Trainer::history() const { return impl_->run.history; }
std::size_t Trainer::programs() const { return impl_->programs.compiled(); }
const Capture& Trainer::capture() const { return impl_->capture; }
const TrainOptions& Trainer::options() const { return impl_->options; }
std::vector<std::size_t> Trainer::training_views() const { return views_of(impl_->capture, impl_->options, false); }
std::vector<std::size_t> Trainer::held_out_views() const { return views_of(impl_->capture, impl_->options, true); }
HostTensor Trainer::render(std::size_t view) { return impl_->render(view); }

formats::GaussianCloud Trainer::cloud() const {
  impl_->require_state();
  formats::GaussianCloud c = cloud_of(impl_->run.state);
  c.antialiased = impl_->options.mode == RenderMode::antialiased;
  return c;
}

Quality Trainer::quality(const std::vector<std::size_t>& views) {
  Quality q;
  for (const std::size_t view : views) {
    HostTensor shown = render(view);  // Clamped, as a file of it is.
    for (float& x : shown.as_mutable<float>()) x = std::clamp(x, 0.0f, 1.0f);
    const HostTensor& image = impl_->capture.images[view];
    double squares = 0;
    for (std::int64_t i = 0; i < image.numel(); ++i) squares += std::pow(shown.get_f64(i) - image.get_f64(i) / 255, 2);
    const HostTensor truth = formats::unit_floats(image);
    q.psnr += 10 * std::log10(static_cast<double>(image.numel()) / std::max(squares, 1e-10));
    q.ssim += emitted({Tensor(shown), Tensor(truth)}, [](ValuesIn v) { return ssim(v[0], v[1]); }).item();
  }
  q.views = views.size();
  if (q.views > 0) q.psnr /= static_cast<double>(q.views), q.ssim /= static_cast<double>(q.views);
  return q;
}

void Trainer::save(const std::string& checkpoint) const {
  impl_->require_state();
  write_checkpoint(checkpoint, impl_->run, impl_->options, impl_->capture);
}

}  // namespace rlx::splat
