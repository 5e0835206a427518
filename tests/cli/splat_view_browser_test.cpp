// The page of rlx splat view in a browser: its pictures against our own renders, its controls, and a scene that
// changes.
#include "browser.hpp"

#include <rlx/formats/gaussian_file.hpp>
#include <rlx/formats/hdf5.hpp>
#include <rlx/formats/image.hpp>

#include <cmath>
#include <random>

namespace rlx::cli::testing {
namespace {

using nlohmann::json;

/// Long and flat Gaussians around the origin, from less than a pixel to many across, whose colours depend much on where
/// they are seen from.
formats::GaussianCloud scene(std::int64_t count, int degree) {
  formats::GaussianCloud c = formats::make_gaussian_cloud(count, degree);
  std::mt19937 bits(7);
  const auto fill = [&](HostTensor& t, double mean, double deviation) {
    std::normal_distribution<double> normal(mean, deviation);
    for (std::int64_t i = 0; i < t.numel(); ++i) t.set_f64(i, normal(bits));
  };
  fill(c.means, 0, 0.5);
  fill(c.log_scales, -3.2, 0.9);
  fill(c.quaternions, 0, 1);
  fill(c.opacity_logits, 0.5, 2);
  fill(c.sh, 0, 0.3);
  return c;
}

/// The points of a real garden, as Gaussians of any orientation, deviations of about 0.01 and opacities around 1 / 2;
/// and where its first photograph was taken from.
struct Garden {
  formats::GaussianCloud cloud;
  std::string eye, target, up, fov;
  std::int64_t width = 0, height = 0;

  explicit Garden(const std::string& file) {
    const HostTensor points = formats::read_hdf5(file, "/means3d"), colours = formats::read_hdf5(file, "/colors"),
                     view = formats::read_hdf5(file, "/viewmats"), lens = formats::read_hdf5(file, "/Ks");
    std::mt19937 bits(3);
    std::normal_distribution<double> normal;
    cloud = formats::make_gaussian_cloud(points.shape()[0], 0);
    for (std::int64_t i = 0; i < points.numel(); ++i) {
      cloud.means.set_f64(i, points.get_f64(i));
      cloud.sh.set_f64(i, (colours.get_f64(i) / 255 - 0.5) / formats::sh_constant);
      cloud.log_scales.set_f64(i, std::log(0.01) + 0.5 * normal(bits));
    }
    for (std::int64_t i = 0; i < cloud.quaternions.numel(); ++i) cloud.quaternions.set_f64(i, normal(bits));
    for (std::int64_t i = 0; i < cloud.size(); ++i) cloud.opacity_logits.set_f64(i, normal(bits));
    width = formats::read_hdf5(file, "/width").get_i64(0), height = formats::read_hdf5(file, "/height").get_i64(0);
    double at[3] = {}, forward[3];
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 3; ++i) at[k] -= view.get_f64(4 * i + k) * view.get_f64(4 * i + 3);
      forward[k] = at[k] + view.get_f64(8 + k);
    }
    const auto text = [](double x, double y, double z) {
      return json(x).dump() + "," + json(y).dump() + "," + json(z).dump();
    };
    eye = text(at[0], at[1], at[2]), target = text(forward[0], forward[1], forward[2]);
    up = text(-view.get_f64(4), -view.get_f64(5), -view.get_f64(6));
    fov = json(2 * std::atan(static_cast<double>(width) / 2 / lens.get_f64(0)) * 180 / M_PI).dump();
  }
};

/// Of 8-bit images, decibels.
double psnr(const HostTensor& a, const HostTensor& b) {
  const std::int64_t pixels = a.shape()[0] * a.shape()[1], from = a.shape()[2], to = b.shape()[2];
  double squares = 0;
  for (std::int64_t i = 0; i < pixels; ++i)
    for (std::int64_t k = 0; k < 3; ++k) squares += std::pow(a.get_f64(from * i + k) - b.get_f64(to * i + k), 2);
  return 10 * std::log10(255 * 255 * 3 * static_cast<double>(pixels) / squares);
}

class SplatViewBrowser : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { browser_ = std::make_unique<Browser>(); }
  static void TearDownTestSuite() { browser_.reset(); }
  Browser& browser() { return *browser_; }

  /// Opens the page and waits for its first picture.
  void show(const Viewer& viewer, const std::string& asked, int width, int height) {
    browser().open(viewer.url() + "#" + asked, width, height);
    EXPECT_EQ(wait("window.viewer && viewer.version > 0"), "") << asked;
    browser().evaluate("viewer.settled().then(() => 0)");
  }
  /// Until the condition holds; the page's own words where it does not for half a minute.
  json wait(const std::string& condition) {
    return browser().evaluate("(async () => { for (let i = 0; i < 600; ++i) { if (" + condition +
                              ") return ''; await new Promise(done => setTimeout(done, 50)); } "
                              "return document.getElementById('status')?.textContent || 'nothing'; })()");
  }
  HostTensor picture() {
    browser().evaluate(
        "viewer.settled().then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => "
        "done(0)))))");
    return formats::parse_image(browser().screenshot());
  }
  json camera() {
    return browser().evaluate(
        "({eye: viewer.camera.eye, target: viewer.camera.target, distance: viewer.camera.distance})");
  }
  void mouse(const char* type, double x, double y, json more = json::object()) {
    more.update({{"type", type}, {"x", x}, {"y", y}});
    browser().call("Input.dispatchMouseEvent", more);
  }
  void drag(double dx, double dy, const char* button) {
    const json held{{"button", button}, {"buttons", std::string(button) == "left" ? 1 : 2}, {"clickCount", 1}};
    mouse("mousePressed", 80, 60, held);
    mouse("mouseMoved", 80 + dx, 60 + dy, held);
    mouse("mouseReleased", 80 + dx, 60 + dy, {{"button", button}, {"clickCount", 1}});
  }
  void touch(const char* type, const json& points) {
    browser().call("Input.dispatchTouchEvent", {{"type", type}, {"touchPoints", points}});
  }
  static double length(const json& v) { return std::hypot(v[0].get<double>(), v[1].get<double>(), v[2].get<double>()); }
  static double apart(const json& a, const json& b) {
    double squares = 0;
    for (std::size_t k = 0; k < 3; ++k) squares += std::pow(a[k].get<double>() - b[k].get<double>(), 2);
    return std::sqrt(squares);
  }

 private:
  inline static std::unique_ptr<Browser> browser_;
};

// Both round to 8 bits, and the page adds up in half floats, whose steps below 1 are at most 1 / 2048, an eighth of a
// level of 255. So about one value in ten rounds to the other side; one in six a level off would be 56 decibels. A blur
// of 0.25 instead of 0.3 is 55.8.
TEST_F(SplatViewBrowser, PicturesAreOurs) {
  const TempFolder folder;
  formats::GaussianCloud c = scene(300, 4);
  formats::write_gaussians(folder / "a.ply", c);
  c.antialiased = true;
  formats::write_gaussians(folder / "b.spz", c);
  struct View {
    std::string file, eye, target;
  };
  // The second camera is among the Gaussians, of which some are behind it and some are wider than the image.
  for (const auto& [file, eye, target] :
       {View{"a.ply", "0.5,-0.8,-2.5", "0,0,0"}, View{"b.spz", "0.1,0,-0.3", "1,0.4,0"}}) {
    Viewer viewer(folder / file);
    ASSERT_GT(viewer.port(), 0);
    const Outcome o = rlx({"splat", "render", folder / file, "-o", folder / "ours.png", "--eye", eye, "--target",
                           target, "--fov", "65", "--size", "160x120", "--background", "0.2,0.4,0.6"});
    ASSERT_EQ(o.status, 0) << o.err;
    const HostTensor ours = formats::read_image(folder / "ours.png");
    for (const std::string renderer : {"webgpu", "webgl2"}) {
      show(viewer, "hud=0&fov=65&background=0.2,0.4,0.6&eye=" + eye + "&target=" + target + "&renderer=" + renderer,
           160, 120);
      EXPECT_EQ(browser().evaluate("viewer.renderer"), renderer);
      const HostTensor theirs = picture();
      ASSERT_EQ(theirs.shape()[0], 120);
      ASSERT_EQ(theirs.shape()[1], 160);
      const double quality = psnr(ours, theirs);
      RecordProperty(file + " " + renderer, std::to_string(quality));
      EXPECT_GT(quality, 56) << file << " " << renderer;
    }
  }
}

// As many as take more than a row of WebGL's textures; once at rest the order is that of the last of many cameras, of
// which those that came while it was sorted were passed over. Each one that lies over a pixel is rounded to a half
// float, and there are more of them than above, hence fewer decibels. More Gaussians take minutes without a graphics
// card.
TEST_F(SplatViewBrowser, SortsManyWhileTheCameraMoves) {
  const TempFolder folder;
  formats::GaussianCloud c = scene(3'000, 1);
  formats::write_gaussians(folder / "many.ply", c);
  Viewer viewer(folder / "many.ply");
  ASSERT_GT(viewer.port(), 0);
  HostTensor ours;
  for (const std::string renderer : {"webgpu", "webgl2"}) {
    show(viewer, "hud=0&eye=0,0,-2&target=0,0,0&fov=50&renderer=" + renderer, 160, 120);
    browser().evaluate(
        "(async () => { for (let i = 0; i < 8; ++i) { viewer.camera.turn(0.3, 0.03, false); viewer.settled(); "
        "if (i % 4 === 0) await new Promise(requestAnimationFrame); } return 0; })()");
    if (ours.numel() == 0) {
      const auto list = [](const json& v) { return v[0].dump() + "," + v[1].dump() + "," + v[2].dump(); };
      const Outcome o = rlx({"splat", "render", folder / "many.ply", "-o", folder / "ours.png", "--eye",
                             list(camera()["eye"]), "--target", "0,0,0", "--fov", "50", "--size", "160x120"});
      ASSERT_EQ(o.status, 0) << o.err;
      ours = formats::read_image(folder / "ours.png");
    }
    const double quality = psnr(ours, picture());
    RecordProperty(renderer, std::to_string(quality));
    EXPECT_GT(quality, 54) << renderer;
  }
}

// 139 thousand of them, from where a photographer stood. Without a graphics card a picture takes seconds: one of the
// renderers, and no more pictures than the page makes by itself and for the screenshot.
TEST_F(SplatViewBrowser, ShowsTheGarden) {
  const std::string file = (places::shared() / "data/splat/garden_points.h5").string();
  if (!fs::exists(file)) GTEST_SKIP() << file << " is not there: RLX_SHARED names its folder";
  const TempFolder folder;
  const Garden g(file);
  formats::write_gaussians(folder / "garden.ply", g.cloud);
  const Outcome o =
      rlx({"splat", "render", folder / "garden.ply", "-o", folder / "ours.png", "--eye", g.eye, "--target", g.target,
           "--up", g.up, "--fov", g.fov, "--size", std::to_string(g.width) + "x" + std::to_string(g.height)});
  ASSERT_EQ(o.status, 0) << o.err;
  Viewer viewer(folder / "garden.ply");
  ASSERT_GT(viewer.port(), 0);
  browser().open(
      viewer.url() + "#hud=0&renderer=webgpu&eye=" + g.eye + "&target=" + g.target + "&up=" + g.up + "&fov=" + g.fov,
      static_cast<int>(g.width), static_cast<int>(g.height));
  ASSERT_EQ(wait("window.viewer && viewer.count === " + std::to_string(g.cloud.size())), "");
  const double quality = psnr(formats::read_image(folder / "ours.png"), picture());
  RecordProperty("webgpu", std::to_string(quality));
  EXPECT_GT(quality, 54);
}

TEST_F(SplatViewBrowser, MouseTouchAndKeys) {
  const TempFolder folder;
  formats::write_gaussians(folder / "a.ply", scene(50, 0));
  Viewer viewer(folder / "a.ply");
  ASSERT_GT(viewer.port(), 0);
  show(viewer, "eye=0,0,-3&target=0,0,0", 160, 120);
  const json start = camera();
  EXPECT_NEAR(start["distance"], 3, 1e-9);

  drag(30, 10, "left");  // orbits
  const json orbited = camera();
  EXPECT_NEAR(orbited["distance"], 3, 1e-9);
  EXPECT_NEAR(length(orbited["target"]), 0, 1e-9);
  EXPECT_LT(orbited["eye"][0], -0.1);  // what is near follows the pointer to the right

  drag(20, 0, "right");  // pans: the scene follows the pointer
  const json panned = camera();
  EXPECT_NEAR(apart(panned["target"], orbited["target"]), apart(panned["eye"], orbited["eye"]), 1e-9);
  EXPECT_NEAR(apart(panned["target"], orbited["target"]), 20.0 / 160 * 2 * 3 * std::tan(M_PI / 6), 1e-6);

  mouse("mouseWheel", 80, 60, {{"deltaX", 0}, {"deltaY", -200}});
  EXPECT_EQ(wait("viewer.camera.distance < 2.9"), "");

  const json before = camera();  // pinch: twice as far apart is half as far away
  const auto fingers = [](double gap, double y) {
    return json{{{"x", 80 - gap}, {"y", y}, {"id", 0}}, {{"x", 80 + gap}, {"y", y}, {"id", 1}}};
  };
  touch("touchStart", fingers(15, 60));
  touch("touchMove", fingers(30, 60));
  EXPECT_EQ(wait("Math.abs(viewer.camera.distance / " + before["distance"].dump() + " - 0.5) < 1e-6"), "");
  const json pinched = camera();
  touch("touchMove", fingers(30, 80));  // two fingers pan
  EXPECT_EQ(wait("viewer.camera.target[1] < " + pinched["target"][1].dump() + " - 0.01"), "");
  touch("touchEnd", json::array());
  EXPECT_NEAR(camera()["distance"], pinched["distance"], 1e-9);

  const auto key = [&](const char* type, const char* code) {
    browser().call("Input.dispatchKeyEvent", {{"type", type}, {"code", code}, {"key", std::string(1, code[3])}});
  };
  const json still = camera();
  key("keyDown", "KeyW");
  EXPECT_EQ(wait("Math.hypot(...viewer.camera.eye.map((x, k) => x - " + still["eye"].dump() + "[k])) > 0.01"), "");
  key("keyUp", "KeyW");

  key("keyDown", "KeyF");
  key("keyUp", "KeyF");
  EXPECT_EQ(browser().evaluate("viewer.controls.fly && document.getElementById('fly').ariaPressed"), "true");
  const json flying = camera();
  drag(20, 5, "left");  // the head turns, the eye stays
  EXPECT_NEAR(apart(camera()["eye"], flying["eye"]), 0, 1e-9);
  EXPECT_GT(apart(camera()["target"], flying["target"]), 0.01);
  key("keyDown", "KeyR");
  EXPECT_EQ(wait("viewer.camera.distance > 1"), "");
}

TEST_F(SplatViewBrowser, ShowsATrainingWhileItRuns) {
  const TempFolder folder;
  fs::create_directories(folder / "run");
  Viewer viewer(folder / "run");
  ASSERT_GT(viewer.port(), 0);
  browser().open(viewer.url(), 160, 120);
  EXPECT_EQ(wait("document.getElementById('status')?.textContent.startsWith('waiting for')"), "");
  formats::write_gaussians(folder / "run/scene.ply", scene(40, 1));
  EXPECT_EQ(wait("viewer.count === 40"), "");
  const HostTensor first = picture();
  const json where = camera();
  formats::write_gaussians(folder / "run/scene.ply", scene(60, 3));
  EXPECT_EQ(wait("viewer.count === 60"), "");
  EXPECT_FALSE(picture().identical(first));
  EXPECT_EQ(camera(), where);  // The camera stays where its user put it.
  EXPECT_EQ(viewer.end(SIGINT), 0);
  EXPECT_EQ(wait("document.getElementById('status')?.textContent === 'rlx splat view has ended'"), "");
}

}  // namespace
}  // namespace rlx::cli::testing
