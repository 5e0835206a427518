// rlx splat view without a browser: what the server answers, what it refuses, and how it ends.
#include "viewer.hpp"

#include <rlx/formats/gaussian_file.hpp>

#include <sys/syscall.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

namespace rlx::cli::testing {
namespace {

TEST(SplatView, ServesThePageAndTheScene) {
  Viewer viewer(data("degree3.ply"));
  ASSERT_GT(viewer.port(), 0);
  EXPECT_EQ(viewer.started()["gaussians"], 12);
  EXPECT_EQ(viewer.url().substr(0, 17), "http://127.0.0.1:");
  const Answer page = viewer.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, slurp(places::source() / "splat/view/index.html"));
  EXPECT_NE(page.head.find("Content-Security-Policy: default-src 'self'"), std::string::npos);
  for (const auto& file : fs::directory_iterator(places::source() / "splat/view")) {
    const Answer a = viewer.get("/" + file.path().filename().string());
    EXPECT_EQ(a.status, 200) << file.path();
    EXPECT_EQ(a.body, slurp(file.path().string())) << file.path();
  }
  EXPECT_NE(viewer.get("/main.js").head.find("text/javascript"), std::string::npos);
  const auto state = viewer.state();
  EXPECT_EQ(state["version"], 1);
  EXPECT_EQ(state["gaussians"], 12);
  EXPECT_EQ(state["error"], "");
  const Answer scene = viewer.get("/scene", "localhost:1");
  EXPECT_EQ(scene.status, 200);
  EXPECT_NE(scene.head.find("X-Scene-Version: 1"), std::string::npos);
  ASSERT_EQ(scene.body.size(), 64 + 12 * (12 + 48) * 4u);
  // The mean and the opacity of the first Gaussian.
  const auto cloud = formats::read_gaussians(data("degree3.ply"));
  float first[4];
  std::memcpy(first, scene.body.data() + 64, sizeof first);
  for (std::int64_t k = 0; k < 3; ++k) EXPECT_EQ(first[k], cloud.means.get_f64(k));
  EXPECT_FLOAT_EQ(first[3], static_cast<float>(1 / (1 + std::exp(-cloud.opacity_logits.get_f64(0)))));
  EXPECT_EQ(viewer.end(SIGINT), 0);
}

TEST(SplatView, AnswersNothingElse) {
  Viewer viewer(data("degree3.ply"));
  ASSERT_GT(viewer.port(), 0);
  for (const char* path : {"/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
                           "//etc/passwd", "/etc/passwd", "/index.html/../../x", "/nothing", "/%00"}) {
    const Answer a = viewer.get(path);
    EXPECT_GE(a.status, 400) << path << a.body;
    EXPECT_EQ(a.body.find("root:"), std::string::npos) << path;
  }
  EXPECT_GE(viewer.get("/", "127.0.0.1", "POST").status, 400);
  // A name that someone else lets point at this machine.
  for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1.evil.example", ""}) {
    EXPECT_EQ(viewer.get("/scene", host).status, 403) << host;
    EXPECT_EQ(viewer.get("/", host).status, 403) << host;
  }
  // Parts of a file: never other bytes than the answer's header tells.
  for (const char* range : {"10-19", "10-", "-10", "99999999999-", "0-9223372036854775807", "0-1,5-6"})
    for (const char* path : {"/scene", "/"}) {
      const Answer a = viewer.get(path, "127.0.0.1", "GET", "Range: bytes=" + std::string(range) + "\r\n");
      EXPECT_EQ(a.status, 416) << range;
      EXPECT_EQ(a.body, "") << range;
    }
  EXPECT_EQ(viewer.get("/").status, 200);  // It is as well as before.
  EXPECT_EQ(viewer.end(SIGTERM), 0);
}

TEST(SplatView, FollowsTheFileOfATraining) {
  const TempFolder folder;
  fs::create_directories(folder / "run");
  Viewer viewer(folder / "run");
  ASSERT_GT(viewer.port(), 0);
  EXPECT_EQ(viewer.state()["version"], 0);
  EXPECT_EQ(viewer.get("/scene").status, 404);
  formats::GaussianCloud c = formats::make_gaussian_cloud(5, 0);
  c.means.set_f64(3, std::numeric_limits<double>::quiet_NaN());
  formats::write_gaussians(folder / "run/scene.ply", c);
  const auto not_finite = viewer.state();
  EXPECT_EQ(not_finite["version"], 0);
  EXPECT_NE(not_finite["error"].get<std::string>().find("scene.ply: Gaussian 1 of 5"), std::string::npos);
  c.means.set_f64(3, 0);
  formats::write_gaussians(folder / "run/scene.ply", c);
  EXPECT_EQ(viewer.state()["version"], 1);
  EXPECT_EQ(viewer.state()["gaussians"], 5);
  EXPECT_EQ(viewer.get("/scene").body.size(), 64 + 5 * 16 * 4u);
  put(folder / "run/scene.ply", "ply\nbroken");
  const auto broken = viewer.state();
  EXPECT_EQ(broken["version"], 1);
  EXPECT_NE(broken["error"].get<std::string>().find("scene.ply"), std::string::npos);
  formats::write_gaussians(folder / "run/scene.ply", formats::make_gaussian_cloud(7, 1));
  EXPECT_EQ(viewer.state()["version"], 2);
  EXPECT_EQ(viewer.state()["error"], "");
  EXPECT_EQ(viewer.state()["gaussians"], 7);
  formats::write_gaussians(folder / "run/scene.ply", formats::make_gaussian_cloud(0, 1));
  EXPECT_EQ(viewer.get("/scene").body.size(), 64u);
}

// A client that asks for more than the sockets hold and reads none of it would hold the server up for a minute; one
// that says nothing for some seconds.
TEST(SplatView, EndsAtOnceWhateverItsClientsDo) {
  const TempFolder folder;
  formats::write_gaussians(folder / "large.ply", formats::make_gaussian_cloud(200'000, 0));
  Viewer viewer(folder / "large.ply");
  ASSERT_GT(viewer.port(), 0);
  const int silent = viewer.connect(), slow = viewer.connect();
  ASSERT_GE(silent, 0);
  ASSERT_GE(slow, 0);
  const std::string request = "GET /scene HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  ASSERT_EQ(::send(slow, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  char first = 0;
  ASSERT_EQ(::recv(slow, &first, 1, 0), 1);  // It is being answered.
  ::alarm(30);                               // Ends the test program.
  EXPECT_EQ(viewer.end(SIGINT), 0);
  ::alarm(0);
  ::close(silent);
  ::close(slow);
}

// Its listening socket is shut down from here, as a fault of the system would end it.
TEST(SplatView, EndsWhenNobodyCanConnectAnyMore) {
  Viewer viewer(data("degree3.ply"));
  ASSERT_GT(viewer.port(), 0);
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, viewer.process(), 0));
  if (process < 0) GTEST_SKIP() << "no pidfd_open on this system";
  bool listens = false, may_look = true;
  for (int theirs = 3; theirs < 64 && !listens; ++theirs) {
    const auto s = static_cast<int>(::syscall(SYS_pidfd_getfd, process, theirs, 0));
    may_look = may_look && (s >= 0 || errno == EBADF);
    int flag = 0;
    socklen_t size = sizeof flag;
    listens = s >= 0 && ::getsockopt(s, SOL_SOCKET, SO_ACCEPTCONN, &flag, &size) == 0 && flag == 1;
    if (listens) ::shutdown(s, SHUT_RDWR);
    if (s >= 0) ::close(s);
  }
  ::close(process);
  if (!may_look) GTEST_SKIP() << "descriptors of another process cannot be had on this system";
  ASSERT_TRUE(listens);
  ::alarm(30);
  EXPECT_EQ(viewer.end(0), 1);  // No signal is sent.
  ::alarm(0);
}

TEST(SplatView, Refusals) {
  const TempFolder folder;
  expect_refusal({"splat", "view", folder / "absent.ply", "--port", "0"}, 1, "FormatError", "absent.ply");
  expect_refusal({"splat", "view", folder / "later", "--port", "0"}, 1, "FormatError", "no such folder of a training");
  expect_refusal({"splat", "view", data("degree3.ply"), "--port", "70000"}, 2, "UsageError", "--port");
  formats::GaussianCloud bad = formats::make_gaussian_cloud(2, 0);
  bad.means.set_f64(3, std::numeric_limits<double>::quiet_NaN());
  formats::write_gaussians(folder / "bad.ply", bad);
  expect_refusal({"splat", "view", folder / "bad.ply", "--port", "0"}, 1, "FormatError",
                 "bad.ply: Gaussian 1 of 2 has a NaN or an infinity in its means");
  Viewer first(data("degree3.ply"));
  ASSERT_GT(first.port(), 0);
  expect_refusal({"splat", "view", data("degree3.ply"), "--port", std::to_string(first.port())}, 1, "DeviceError",
                 "cannot be had");
}

}  // namespace
}  // namespace rlx::cli::testing
