// rlx splat train: what a run leaves, how it is taken up again, and what is refused.
#include "program.hpp"

#include <rlx/formats/gaussian_file.hpp>
#include <rlx/formats/image.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace rlx::cli::testing {
namespace {

std::vector<std::string> train(const TempFolder& folder, const std::string& to, std::vector<std::string> more) {
  std::vector<std::string> a{"splat",      "train", folder / "capture", "-o", folder / to,
                             "--hold-out", "3",     "--degree",         "1",  "--json"};
  a.insert(a.end(), more.begin(), more.end());
  return a;
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
  const Outcome other = rlx(train(folder, "run", {"--steps", "50", "--resume"}));
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(other.err.find("it has steps = 40, expected steps = 50"), std::string::npos) << other.err;
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
  refused(train(folder, "x", {"--densify", "often"}), 2, "--densify");
  refused(train(folder, "x", {"--start", "often"}), 2, "{points,random}");
  refused(train(folder, "x", {"--resume", "--restart"}), 2, "exclude each other");
  refused(train(folder, "x", {"--background", "red"}), 2, "--background");
  refused(train(folder, "x", {"--ssim", "2"}), 1, "ssim is 2");
  refused(train(folder, "x", {"--opacity-regularizer", "-1"}), 2, "--opacity-regularizer: \"-1\" is no number");
  refused(train(folder, "x", {"--save-every", "0"}), 2, "\"0\" is no whole number of at least 1");
  refused(train(folder, "x", {"--random-points", "9"}), 2, "--random-points is an option of --start random");
  refused(train(folder, "x", {"--densify", "mcmc", "--absolute"}), 2, "--absolute is an option of --densify adaptive");
  refused(train(folder, "x", {"--densify", "fixed", "--refine-every", "9"}), 2, "of --densify adaptive and mcmc");
}

}  // namespace
}  // namespace rlx::cli::testing
