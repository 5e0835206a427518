// Runs of training: what they reach, what they keep, what they refuse.
#include "training.hpp"

#include <rlx/ir/error.hpp>

#include <cmath>

#include "splat/train/adam.hpp"
#include "splat/train/schedule.hpp"
#include "splat/train/start.hpp"
#include "splat/train/step.hpp"

namespace rlx::splat::testing {
namespace {

TEST(Training, LearnsASceneThatItHasNotSeenFromThere) {
  Trainer t(small_capture(), small_options(Densification::fixed, 400));
  const Quality before = t.quality(t.held_out_views());
  train_to(t, 400);
  const Quality seen = t.quality(t.training_views()), unseen = t.quality(t.held_out_views());
  EXPECT_EQ(unseen.views, 2u);
  EXPECT_LT(before.psnr, 22);
  EXPECT_GT(seen.psnr, 27);
  EXPECT_GT(unseen.psnr, before.psnr + 3);
  EXPECT_EQ(t.programs(), 1u);
  ASSERT_EQ(t.history().size(), 4u);
  EXPECT_LT(t.history()[3].loss, t.history()[0].loss / 2);
}

TEST(Training, ReachesWhatItPromisesOnViewsThatAreHeldOut) {
  // The small one of the benchmark's configurations: 24 views to train on and 8 held out, of three scenes. On x86-64 at
  // least 31.3 dB and at most 2.0 dB less than the training views: the rest is for sums in another order, which a
  // chaotic descent magnifies.
  for (const std::uint64_t scene : {0, 1, 2}) {
    const Capture c = capture_scene(synthetic_scene(200, scene),
                                    {.views = 32, .width = 48, .height = 48, .point_noise = 0.02, .device = "cpu"});
    TrainOptions o = small_options(Densification::mcmc, 800);
    o.degree_every = 1000;
    o.rates.scales = 1e-2;  // Few steps, so larger ones.
    o.refine_every = o.refine_from = 100;
    Trainer t(c, o);
    train_to(t, o.steps);
    const Quality seen = t.quality(t.training_views()), unseen = t.quality(t.held_out_views());
    EXPECT_EQ(seen.views, 24u);
    EXPECT_EQ(unseen.views, 8u);
    EXPECT_GT(unseen.psnr, 30) << scene;
    EXPECT_LT(seen.psnr - unseen.psnr, 3) << scene;
  }
}

/// View 1 of the capture, and numbers for a step of it.
struct Look {
  train::ViewArrays view;
  train::StepNumbers numbers;
};
Look look_at(const Capture& c) {
  const formats::Pinhole p = formats::pinhole_of(c.camera(1));
  const double lens[] = {p.fx, 0, p.cx, 0, p.fy, p.cy, 0, 0, 1};
  Look l{{c.images[1], HostTensor::from(DType::f32, {4, 4}, formats::world_to_camera(c.pose(1))),
          HostTensor::from(DType::f32, {3, 3}, lens)},
         {}};
  l.numbers.rates.fill(1e-3);
  return l;
}

TEST(Training, AStepWhoseListsOverflowIsRepeated) {
  const Capture c = small_capture();
  const TrainOptions o = small_options();
  train::State a = train::make_state(train::first_gaussians(c, o), 8);
  for (float& x : a.values[train::scales].as_mutable<float>()) x = 1;  // Each over all of the 9 tiles.
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < 900; ++i) rows.push_back(i % 200);
  select_rows(a, rows);
  train::State b = a;
  const Look l = look_at(c);
  train::Programs scarce(o, 1), ample(o, 4000);  // Room for 4096 and for 32000 entries, of 8100.
  EXPECT_EQ(scarce.step(a, l.view, l.numbers), ample.step(b, l.view, l.numbers));
  EXPECT_EQ(scarce.compiled(), 2u);
  EXPECT_EQ(ample.compiled(), 1u);
  EXPECT_EQ(a.step, 1);
  for (std::size_t g = 0; g < train::groups; ++g) {
    EXPECT_EQ(a.values[g], b.values[g]) << train::group_names[g];
    EXPECT_EQ(a.first[g], b.first[g]) << train::group_names[g];
  }
}

TEST(Training, TheStateIsUpdatedWhereItStands) {
  const Capture c = small_capture();
  const Look l = look_at(c);
  for (const auto densification : {Densification::adaptive, Densification::mcmc}) {
    TrainOptions o = train::resolved(small_options(densification));
    o.refine_poses = o.exposures = true;
    train::State s = train::make_state(train::first_gaussians(c, o), 8);
    std::int64_t bytes = 0;
    for (const Tensor& leaf : s.leaves()) bytes += leaf.host_tensor().bytes();
    train::Programs programs(o, s.count);
    for (int k = 0; k < 5; ++k) programs.step(s, l.view, l.numbers);
    EXPECT_EQ(programs.statistics().in_place_bytes, 5 * bytes) << programs.kept_apart();
    EXPECT_EQ(programs.statistics().copied_bytes, 0);
  }
}

TEST(Training, AdamIsThatOfThePaper) {
  // Kingma and Ba's algorithm 1, in float64.
  const double gradients[] = {0.3, -2, 1e-4, 0.7}, rate = 0.01, epsilon = 1e-15;
  double value = 1, m = 0, v = 0;
  Tensor ours = full({}, 1);
  train::Moments moments{zeros({}), zeros({})};
  for (int t = 1; t <= 4; ++t) {
    const double g = gradients[t - 1];
    m = 0.9 * m + 0.1 * g, v = 0.999 * v + 0.001 * g * g;
    value -= rate * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + epsilon);
    moments = train::next_moments(moments, full({}, g));
    ours = ours - train::adam_step(moments, rate, {full({}, 1 - std::pow(0.9, t)), full({}, 1 - std::pow(0.999, t))});
    EXPECT_NEAR(ours.item(), value, 1e-15);
  }
}

TEST(Training, ExposuresExplainImagesThatAreBrighter) {
  Capture c = small_capture(0.005);
  for (const std::size_t view : {2u, 5u})
    for (std::uint8_t& x : c.images[view].as_mutable<std::uint8_t>()) x = static_cast<std::uint8_t>(x * 3 / 5);
  TrainOptions o = small_options(Densification::fixed, 150);
  o.rates.exposures = 1e-2;
  Trainer without(c, o);
  o.exposures = true;
  Trainer with(c, o);
  train_to(without, 150), train_to(with, 150);
  EXPECT_GT(with.quality(with.training_views()).psnr, without.quality(without.training_views()).psnr + 1);
}

TEST(Training, PosesThatAreWrongAreRefined) {
  Capture c = small_capture(0.005);
  const Capture truth = c;
  for (std::size_t i = 1; i < c.size(); ++i)  // By about a pixel and a half of 48.
    for (std::size_t k = 0; k < 2; ++k) c.reconstruction.images[i].translation[k] += (i + k) % 2 ? 0.05 : -0.05;
  TrainOptions o = small_options(Densification::fixed, 200);
  o.rates.poses = 1e-3;
  Trainer without(c, o);
  o.refine_poses = true;
  Trainer with(c, o);
  train_to(without, 200), train_to(with, 200);
  EXPECT_GT(with.quality(with.training_views()).psnr, without.quality(without.training_views()).psnr + 1);
}

TEST(Training, DivergenceNamesStepAndTensor) {
  TrainOptions o = small_options();
  o.rates.colours = 1e38;
  Trainer t(small_capture(), o);
  try {
    train_to(t, 60);
    ADD_FAILURE() << "colours of 1e38 were taken";
  } catch (const NumericalError& e) {
    EXPECT_EQ(e.op(), "splat.train");
    EXPECT_EQ(e.info(), t.steps_done() + 1);
    EXPECT_NE(std::string(e.what()).find("the loss is not finite"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(summarize(t.cloud()).not_finite == 0);  // The state before that step is there still.
}

TEST(Training, RefusesWhatCannotBeTrainedOn) {
  const Capture c = small_capture();
  TrainOptions o = small_options();
  const auto refused = [](const Capture& capture, const TrainOptions& options, const std::string& says) {
    try {
      Trainer(capture, options);
      ADD_FAILURE() << "taken, in spite of: " << says;
    } catch (const ArgumentError& e) { EXPECT_EQ(std::string(e.what()), "training: " + says); }
  };
  o.hold_out_every = 1;
  refused(c, o, "hold_out_every is 1, which leaves none of 8 images to train on");
  o = small_options();
  o.most = 199;
  refused(c, o, "most is 199, less than the 200 Gaussians that it starts with");
  o = small_options();
  Capture far = c;
  far.reconstruction.points.positions.set_f64(0, 1e300);  // Finite, but not in the numbers of Gaussians.
  EXPECT_THROW(Trainer(far, o), ArgumentError);
  Capture no_points = c;
  no_points.reconstruction.points = {};
  refused(no_points, o, "start is points, and the capture has none: start at random");
  o.start = Start::random;
  EXPECT_EQ(Trainer(no_points, o).gaussians(), 200);
  o.degree = 5;
  EXPECT_THROW(Trainer(c, o), ArgumentError);
  EXPECT_THROW(Trainer(Capture{}, small_options()), ArgumentError);
}

TEST(Training, SheetAndPlotShowTheRun) {
  Trainer t(small_capture(), small_options());
  const HostTensor sheet = contact_sheet(t, {0, 4}, 24);
  EXPECT_EQ(sheet.shape(), (std::vector<std::int64_t>{52, 80, 3}));
  const std::string plot = history_plot({{100, 0.5, 200}, {200, 0.05, 300}});
  EXPECT_NE(plot.find("<polyline"), std::string::npos);
  EXPECT_NE(plot.find(">300<"), std::string::npos);
  EXPECT_EQ(history_plot({}).find("<polyline"), std::string::npos);
}

}  // namespace
}  // namespace rlx::splat::testing
