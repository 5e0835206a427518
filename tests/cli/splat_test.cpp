// rlx splat: scenes of Gaussians from one format to another.
#include "program.hpp"

#include <rlx/formats/gaussian_file.hpp>

#include <limits>

namespace rlx::cli::testing {
namespace {

TEST(Splat, InfoTellsWhatAFileHolds) {
  const auto j = rlx({"splat", "info", data("degree3.ply"), "--json"}).json();
  EXPECT_EQ(j["gaussians"], 12);
  EXPECT_EQ(j["sh_degree"], 3);
  EXPECT_EQ(j["not_finite"], 0);
  EXPECT_EQ(j["lower"].size(), 3u);
  EXPECT_LT(j["smallest_scale"], j["largest_scale"]);
  const Outcome text = rlx({"splat", "info", data("degree4_v4.spz")});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("6, harmonics of degree 4"), std::string::npos) << text.out;
}

TEST(Splat, InfoOfPointsWithoutGaussians) {
  const TempFolder folder;
  put(folder / "p.ply",
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
      "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n"
      "1 2 3 0 0 0\nnan 0 0 0 0 0\n-1 5 2 9 9 9\n");
  const auto j = rlx({"splat", "info", folder / "p.ply", "--json"}).json();
  EXPECT_EQ(j["points"], 3);
  EXPECT_EQ(j["not_finite"], 1);
  EXPECT_EQ(j["lower"], (std::vector<double>{-1, 2, 2}));
  EXPECT_EQ(j["upper"], (std::vector<double>{1, 5, 3}));
  EXPECT_NE(rlx({"splat", "info", folder / "p.ply"}).out.find("3, without Gaussians"), std::string::npos);
}

TEST(Splat, ConvertsBetweenTheFormats) {
  const TempFolder folder;
  const auto convert = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"splat", "convert"});
    const Outcome o = rlx(arguments);
    EXPECT_EQ(o.status, 0) << o.err;
  };
  convert({data("degree3.ply"), folder / "a.spz", "--spz-version", "4"});
  EXPECT_EQ(slurp(folder / "a.spz").substr(0, 5), std::string("NGSP\x04", 5));
  convert({folder / "a.spz", folder / "b.ply", "--ascii"});
  EXPECT_NE(slurp(folder / "b.ply").find("format ascii"), std::string::npos);
  convert({folder / "b.ply", folder / "c.splat"});
  EXPECT_EQ(fs::file_size(folder / "c.splat"), 12 * 32u);
  convert({data("degree1.compressed.ply"), folder / "d.ply"});
  EXPECT_EQ(formats::read_gaussians(folder / "d.ply").size(), 260);
  // The axes of an SPZ file are turned, unless it is said that they are not those of its format.
  convert({folder / "a.spz", folder / "raw.ply", "--raw-axes"});
  EXPECT_EQ(formats::read_gaussians(folder / "raw.ply").means.get_f64(1),
            -formats::read_gaussians(folder / "b.ply").means.get_f64(1));
  convert({folder / "d.ply", folder / "d.ply", "--ascii"});  // onto itself
  EXPECT_EQ(formats::read_gaussians(folder / "d.ply").size(), 260);
}

TEST(Splat, CropKeepsWhatIsInside) {
  const TempFolder folder;
  const auto kept = [&](std::vector<std::string> region) {
    std::vector<std::string> arguments{"splat", "crop", data("degree3.ply"), folder / "x.ply", "--json"};
    arguments.insert(arguments.end(), region.begin(), region.end());
    const Outcome o = rlx(arguments);
    EXPECT_EQ(o.status, 0) << o.err;
    const auto j = o.json();
    EXPECT_EQ(j["gaussians"], 12);
    EXPECT_EQ(j["kept"], formats::read_gaussians(folder / "x.ply").size());
    return j["kept"].get<int>();
  };
  const auto scene = formats::read_gaussians(data("degree3.ply"));
  const auto means = scene.means.as<float>();
  int in_box = 0, in_sphere = 0;
  for (std::size_t i = 0; i < 36; i += 3) {
    in_box += std::abs(means[i]) <= 3 && std::abs(means[i + 1]) <= 3 && std::abs(means[i + 2]) <= 3;
    in_sphere += std::hypot(means[i] - 1, means[i + 1], means[i + 2]) <= 3;
  }
  ASSERT_GT(in_box, 0);
  ASSERT_LT(in_box, 12);
  EXPECT_EQ(kept({"--min", "-3,-3,-3", "--max", "3,3,3"}), in_box);
  EXPECT_EQ(kept({"--sphere", "1,0,0,3"}), in_sphere);
  EXPECT_EQ(kept({"--min=-inf,-inf,-inf", "--max=inf,inf,inf"}), 12);
  EXPECT_EQ(kept({"--min", "100,100,100", "--max", "101,101,101"}), 0);
  const int below = kept({"--max", "0,inf,inf"});
  EXPECT_EQ(below + kept({"--min", "0,-inf,-inf"}), 12);  // None lies at 0.
  EXPECT_EQ(kept({}), 12);
}

// One rule for what is not finite: counted, kept by a change of the format, left out by a crop, refused by what draws.
TEST(Splat, GaussiansThatAreNotFinite) {
  const TempFolder folder;
  formats::GaussianCloud c = formats::read_gaussians(data("degree3.ply"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  c.opacity_logits.as_mutable<float>()[4] = nan;
  c.means.as_mutable<float>()[3 * 7] = nan;
  const std::string bad = folder / "bad.ply", mended = folder / "mended.ply";
  formats::write_gaussians(bad, c);
  EXPECT_EQ(rlx({"splat", "info", bad, "--json"}).json()["not_finite"], 2);
  EXPECT_EQ(rlx({"splat", "convert", bad, folder / "same.ply"}).status, 0);
  EXPECT_EQ(slurp(folder / "same.ply"), slurp(bad));
  expect_refusal({"splat", "convert", bad, folder / "x.spz"}, 1, "ArgumentError", "of Gaussian 7");

  const std::string says =
      "bad.ply: Gaussian 4 of 12 has a NaN or an infinity in its opacity_logits (not finite are 2)";
  expect_refusal({"splat", "render", bad, "-o", folder / "x.png"}, 1, "FormatError", says);
  expect_refusal({"splat", "capture", bad, "-o", folder / "x"}, 1, "FormatError", says);
  EXPECT_FALSE(fs::exists(folder / "x") || fs::exists(folder / "x.png"));

  const auto j = rlx({"splat", "crop", bad, mended, "--json"}).json();
  EXPECT_EQ(j["not_finite"], 2);
  EXPECT_EQ(j["kept"], 10);
  EXPECT_EQ(rlx({"splat", "info", mended, "--json"}).json()["not_finite"], 0);
  EXPECT_NE(rlx({"splat", "crop", bad, mended}).out.find("10 of 12 Gaussians, of which 2 were not finite"),
            std::string::npos);
}

TEST(Splat, AnEmptySceneHasNoExtent) {
  const TempFolder folder;
  formats::write_gaussians(folder / "none.ply", formats::make_gaussian_cloud(0, 1));
  const auto j = rlx({"splat", "info", folder / "none.ply", "--json"}).json();
  EXPECT_EQ(j["gaussians"], 0);
  for (const char* key : {"lower", "upper", "smallest_scale", "largest_scale", "mean_opacity"})
    EXPECT_TRUE(j[key].is_null()) << key;
  EXPECT_EQ(rlx({"splat", "info", folder / "none.ply"}).out.find("means"), std::string::npos);
}

TEST(Splat, WrongUsageAndBadFiles) {
  const TempFolder folder;
  const auto fails = [](std::vector<std::string> arguments, int status, const char* says) {
    arguments.insert(arguments.begin(), "splat");
    const Outcome o = rlx(arguments);
    EXPECT_EQ(o.status, status) << o.err;
    EXPECT_NE(o.err.find(says), std::string::npos) << o.err;
  };
  const std::string in = data("degree3.ply"), out = folder / "x.ply";
  fails({}, 2, "subcommand is required");
  fails({"crop", in, out, "--min", "1,2", "--max", "1,2,3"}, 2,
        "--min takes 3 numbers with commas between, not \"1,2\"");
  fails({"crop", in, out, "--min", "0,1,0", "--max", "1,0,1"}, 2, "--min is above --max along y");
  fails({"crop", in, out, "--sphere", "1,2,3,four"}, 2, "--sphere takes 4 numbers");
  fails({"crop", in, out, "--sphere", "0,0,0,-1"}, 2, "a radius that is not negative");
  fails({"crop", in, out, "--sphere", "0,0,0,1", "--min", "0,0,0"}, 2, "excludes");
  fails({"convert", in, folder / "x.splat", "--ascii"}, 2, "--ascii is an option for writing a .ply");
  fails({"convert", in, out, "--spz-version", "3"}, 2, "--spz-version is an option for writing a .spz");
  fails({"convert", in, out, "--raw-axes"}, 2, "--raw-axes is an option for a .spz");
  fails({"convert", in, folder / "x.spz", "--spz-version", "1"}, 2,
        "--spz-version: \"1\" is no whole number from 2 to 4");
  fails({"convert", in, folder / "x.obj"}, 1, "the name tells no format");
  fails({"convert", folder / "absent.ply", out}, 1, "cannot open");
  put(folder / "bad.ply", "ply\nformat ascii 1.0\nelement vertex 1\nend_header\n");
  fails({"info", folder / "bad.ply"}, 1, "has no property 'x'");
  const auto error = rlx({"splat", "info", folder / "bad.ply", "--json"}).json()["error"];
  EXPECT_EQ(error["type"], "FormatError");
  EXPECT_EQ(error["offset"], 21);
  EXPECT_FALSE(fs::exists(out));
}

}  // namespace
}  // namespace rlx::cli::testing
