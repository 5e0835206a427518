// rlx splat train: what a run leaves, how it is taken up again, and what is refused.
#include "program.hpp"

#include <rlx/formats/gaussian_file.hpp>
#include <rlx/formats/image.hpp>
#include <rlx/splat/train_options.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <set>

namespace rlx::cli::testing {
namespace {

std::vector<std::string> train(const TempFolder& folder, const std::string& to, std::vector<std::string> more) {
  std::vector<std::string> a{"splat",      "train", folder / "capture", "-o", folder / to,
                             "--hold-out", "3",     "--degree",         "1",  "--json"};
  a.insert(a.end(), more.begin(), more.end());
  return a;
}

void expect_no_training(std::vector<std::string> arguments, int status, const std::string& type,
                        const std::string& says) {
  std::erase(arguments, "--json");  // It is added there.
  expect_refusal(std::move(arguments), status, type, says);
}

TEST(SplatTrain, LeavesASceneAndGoesOnWhereItStopped) {
  const TempFolder folder;
  const Outcome made =
      rlx({"splat", "capture", "--random", "80", "-o", folder / "capture", "--views", "6", "--size", "32x32"});
  ASSERT_EQ(made.status, 0) << made.err;
  const Outcome first = rlx(train(folder, "run", {"--steps", "40", "--save-every", "20"}));
  ASSERT_EQ(first.status, 0) << first.err;
  const auto j = first.json();
  EXPECT_EQ(j["steps"], 40);
  EXPECT_EQ(j["gaussians"], 80);
  EXPECT_EQ(j["training"]["views"], 4);
  EXPECT_EQ(j["held_out"]["views"], 2);
  EXPECT_GT(j["training"]["psnr"].get<double>(), 10);
  EXPECT_EQ(formats::read_gaussians(folder / "run/scene.ply").size(), 80);
  EXPECT_EQ(formats::read_image(folder / "run/views.png").shape(), (std::vector<std::int64_t>{68, 104, 3}));
  EXPECT_NE(slurp(folder / "run/history.svg").find("<svg"), std::string::npos);

  const int other_training = ::open((folder / "run").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(other_training, LOCK_EX), 0);
  const Outcome beside = rlx(train(folder, "run", {"--steps", "40", "--resume"}));
  ::close(other_training);
  EXPECT_EQ(beside.status, 1);
  EXPECT_NE(beside.err.find("another training writes to this folder"), std::string::npos) << beside.err;

  const Outcome again = rlx(train(folder, "run", {"--steps", "40"}));
  EXPECT_EQ(again.status, 1);
  EXPECT_NE(again.err.find("--resume goes on"), std::string::npos) << again.err;
  // It was at its end: the same scene is judged again.
  const Outcome resumed = rlx(train(folder, "run", {"--steps", "40", "--resume"}));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["held_out"]["psnr"], j["held_out"]["psnr"]);
  const auto other = [&](std::vector<std::string> more, const char* says) {
    more.insert(more.end(), {"--resume"});
    expect_no_training(train(folder, "run", more), 1, "ArgumentError", says);
  };
  other({"--steps", "50"}, "it has steps = 40, expected steps = 50");
  other({"--steps", "40", "--scale-rate", "0.01"}, "it has rates.scales = 0.005, expected rates.scales = 0.01");
  // Killed between the checkpoint and the scene.
  const std::string scene = slurp(folder / "run/scene.ply");
  fs::remove(folder / "run/scene.ply");
  ASSERT_EQ(rlx(train(folder, "run", {"--steps", "40", "--resume"})).status, 0);
  EXPECT_EQ(slurp(folder / "run/scene.ply"), scene);
}

TEST(SplatTrain, RatesAreThoseThatAreGiven) {
  const TempFolder folder;
  ASSERT_EQ(
      rlx({"splat", "capture", "--random", "40", "-o", folder / "capture", "--views", "4", "--size", "24x24"}).status,
      0);
  // Adam's first steps are as long as its rate, whatever the gradient (Kingma and Ba, section 2.1).
  const auto moved = [&](const std::string& name, const std::set<std::string>& flags) {
    std::vector<std::string> more{"--steps", "2", "--densify", "fixed"};
    for (const char* rate : {"--means-rate", "--last-means-rate", "--rotation-rate", "--scale-rate", "--opacity-rate",
                             "--colour-rate", "--harmonics-rate"})
      more.insert(more.end(), {rate, flags.contains(rate) ? "0.1" : "1e-12"});
    const Outcome o = rlx(train(folder, name, more));
    EXPECT_EQ(o.status, 0) << o.err;
    return formats::read_gaussians(folder / (name + "/scene.ply"));
  };
  const auto still = moved("still", {});
  const auto differs = [](const HostTensor& a, const HostTensor& b) {
    double most = 0;
    for (std::int64_t i = 0; i < a.numel(); ++i) most = std::max(most, std::abs(a.get_f64(i) - b.get_f64(i)));
    return most > 1e-3;
  };
  const auto expect_moved = [&](const std::string& name, const std::set<std::string>& flags, const std::string& what) {
    const auto c = moved(name, flags);
    const std::string all = std::string(differs(c.means, still.means) ? "means " : "") +
                            (differs(c.quaternions, still.quaternions) ? "rotations " : "") +
                            (differs(c.log_scales, still.log_scales) ? "scales " : "") +
                            (differs(c.opacity_logits, still.opacity_logits) ? "opacities " : "") +
                            (differs(c.sh, still.sh) ? "colours " : "");
    EXPECT_EQ(all, what);
  };
  expect_moved("a", {"--means-rate"}, "means ");
  expect_moved("b", {"--scale-rate"}, "scales ");
  expect_moved("c", {"--scale-rate", "--rotation-rate"}, "rotations scales ");  // Round ones do not turn.
  expect_moved("d", {"--opacity-rate"}, "opacities ");
  expect_moved("e", {"--colour-rate"}, "colours ");
}

TEST(SplatTrain, AFolderThatHoldsSomethingElseIsRefused) {
  const TempFolder folder;
  const std::string capture = folder / "capture";
  ASSERT_EQ(rlx({"splat", "capture", "--random", "30", "-o", capture, "--views", "4", "--size", "16x16"}).status, 0);
  const std::string scene = slurp(capture + "/scene.ply");
  for (const char* flag : {"--resume", "--restart"})
    expect_no_training(train(folder, "capture", {"--steps", "1", flag}), 1, "ArgumentError",
                       "capture holds images and no checkpoint of a training: expected a folder that is new or empty");
  EXPECT_EQ(slurp(capture + "/scene.ply"), scene);
  put(folder / "file", "mine");
  expect_no_training(train(folder, "file", {}), 1, "FormatError", "Not a directory");
  // What a run that was killed in its first checkpoint leaves is no obstacle.
  fs::create_directory(folder / "run");
  put(folder / "run/checkpoint.h5.part12-0", "half");
  const Outcome o = rlx(train(folder, "run", {"--steps", "1", "--resume"}));
  EXPECT_EQ(o.status, 0) << o.err;
  const Outcome anew = rlx(train(folder, "run", {"--steps", "2", "--restart"}));
  EXPECT_EQ(anew.status, 0) << anew.err;
}

TEST(SplatTrain, ARunThatIsKilledGoesOnToTheSameScene) {
  const TempFolder folder;
  ASSERT_EQ(
      rlx({"splat", "capture", "--random", "80", "-o", folder / "capture", "--views", "6", "--size", "32x32"}).status,
      0);
  const std::vector<std::string> more{"--steps",       "400", "--save-every",   "80", "--densify", "mcmc",
                                      "--refine-from", "10",  "--refine-every", "30"};
  ASSERT_EQ(rlx(train(folder, "whole", more)).status, 0);
  auto killed = train(folder, "killed", more);
  std::string command = quoted(places::program());
  for (const std::string& a : killed) command += " " + quoted(a);
  command += " >/dev/null 2>&1 & run=$!; while ! [ -e " + quoted(folder / "killed/checkpoint.h5") +
             " ]; do kill -0 $run || exit 1; done; kill -KILL $run; wait $run; [ $? = 137 ]";
  ASSERT_EQ(std::system(command.c_str()), 0) << "it ended before it was killed";
  killed.push_back("--resume");
  const Outcome resumed = rlx(killed);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_GT(resumed.json()["gaussians"], 80);
  EXPECT_EQ(slurp(folder / "killed/scene.ply"), slurp(folder / "whole/scene.ply"));
  EXPECT_EQ(slurp(folder / "killed/history.svg"), slurp(folder / "whole/history.svg"));
}

TEST(SplatTrain, Refusals) {
  const TempFolder folder;
  const auto refused = [](const std::vector<std::string>& arguments, int status, const std::string& what) {
    const Outcome o = rlx(arguments);
    EXPECT_EQ(o.status, status) << o.err;
    EXPECT_NE(o.err.find(what), std::string::npos) << o.err;
  };
  refused({"splat", "train", folder / "none", "-o", folder / "x"}, 1, "names no cameras: expected");
  refused({"splat", "train", folder / "none", "-o", ""}, 1, "the folder to write to is empty");
  refused(train(folder, "x", {"--densify", "often"}), 2, "--densify");
  refused(train(folder, "x", {"--start", "often"}), 2, "{points,random}");
  refused(train(folder, "x", {"--resume", "--restart"}), 2, "exclude each other");
  refused(train(folder, "x", {"--background", "red"}), 2, "--background");
  refused(train(folder, "x", {"--background", "0,2,0"}), 2, "--background takes numbers from 0 to 1");
  refused(train(folder, "x", {"--scale", "0"}), 2, "--scale: \"0\" is no number above 0 and at most 1");
  refused(train(folder, "x", {"--ssim", "2"}), 2, "--ssim: \"2\" is no number from 0 to 1");
  refused(train(folder, "x", {"--opacity-regularizer", "-1"}), 2, "--opacity-regularizer: \"-1\" is no number");
  refused(train(folder, "x", {"--save-every", "0"}), 2, "\"0\" is no whole number of at least 1");
  refused(train(folder, "x", {"--random-points", "9"}), 2, "--random-points is an option of --start random");
  refused(train(folder, "x", {"--steps", "99999999999999999999"}), 2, "is no whole number of at least 1");
  refused(train(folder, "x", {"--pose-rate", "1e-3"}), 2, "--pose-rate is an option of --refine-poses");
  refused(train(folder, "x", {"--growth", "1.1"}), 2, "--growth is an option of --densify mcmc");
  refused(train(folder, "x", {"--densify", "mcmc", "--absolute"}), 2, "--absolute is an option of --densify adaptive");
  refused(train(folder, "x", {"--densify", "fixed", "--refine-every", "9"}), 2, "of --densify adaptive and mcmc");
}

TEST(SplatTrain, EveryRateIsShownAndChecked) {
  const TempFolder folder;
  const std::string help = rlx({"splat", "train", "--help"}).out;
  splat::TrainOptions options;
  int shown = 0;
  splat::for_each_option(options, [&](const splat::OptionAt& at, const auto&) {
    if (at.facts.flag.empty()) return;
    EXPECT_NE(help.find(at.facts.flag), std::string::npos) << at.name;
    ++shown;
  });
  EXPECT_GT(shown, 35);
  for (const char* shows : {"0.00016", "1.6e-06", "0.0025", "0.000125", "{adaptive,mcmc,fixed}", "Rates of Adam"})
    EXPECT_NE(help.find(shows), std::string::npos) << shows << "\n" << help;
  splat::for_each_option(options.rates, [&](const splat::OptionAt& at, const auto&) {
    const std::string flag(at.facts.flag);
    for (const char* bad : {"0", "-1", "nan"})
      expect_no_training(train(folder, "x", {flag, bad}), 2, "UsageError",
                         flag + ": \"" + bad + "\" is no number above 0");
  });
  for (const char* bad : {"inf", "1e400", "1e-3x", "fast"})
    expect_no_training(train(folder, "x", {"--means-rate", bad}), 2, "UsageError",
                       "--means-rate: \"" + std::string(bad));
  expect_no_training(train(folder, "x", {"--last-rate-share", "2"}), 2, "UsageError", "above 0 and at most 1");
  expect_no_training(train(folder, "x", {"--mean-rate", "1e-3"}), 2, "UsageError", "--mean-rate");
  EXPECT_FALSE(fs::exists(folder / "x"));
}

}  // namespace
}  // namespace rlx::cli::testing
