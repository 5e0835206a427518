// Chromium without a screen, driven over a pipe by the protocol of its developer tools, drawing by SwiftShader.
#pragma once
#include "viewer.hpp"

#include <poll.h>

#include <chrono>
#include <memory>
#include <stdexcept>

namespace rlx::cli::testing {

inline std::string from_base64(std::string_view text) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((have += 6) >= 8) out += static_cast<char>(bits >> (have -= 8) & 0xff);
  }
  return out;
}

class Browser {
 public:
  using json = nlohmann::json;

  Browser() {
    process_ = std::make_unique<Process>(std::vector<std::string>{places::chromium(),
                                                                  "--headless",
                                                                  "--no-sandbox",
                                                                  "--disable-gpu-sandbox",
                                                                  "--no-first-run",
                                                                  "--no-proxy-server",
                                                                  "--disable-background-networking",
                                                                  "--disable-component-update",
                                                                  "--disable-sync",
                                                                  "--disable-quic",
                                                                  "--enable-unsafe-webgpu",
                                                                  "--use-webgpu-adapter=swiftshader",
                                                                  "--enable-features=Vulkan",
                                                                  "--use-vulkan=swiftshader",
                                                                  "--use-angle=swiftshader",
                                                                  "--enable-unsafe-swiftshader",
                                                                  "--ignore-gpu-blocklist",
                                                                  "--user-data-dir=" + (folder_ / "profile"),
                                                                  "--remote-debugging-pipe",
                                                                  "about:blank"},
                                         std::vector<Process::Redirect>{{2, quiet_}, {3, to_.read}, {4, from_.write}});
    to_.close_read();
    from_.close_write();
  }
  ~Browser() {
    process_.reset();  // before its folder goes
    ::close(quiet_);
  }

  /// A page of this size at this address; those before it are closed.
  void open(const std::string& url, int width, int height) {
    if (!target_.empty()) call("Target.closeTarget", {{"targetId", target_}});
    session_.clear();
    target_ = call("Target.createTarget", {{"url", "about:blank"}})["targetId"];
    session_ = call("Target.attachToTarget", {{"targetId", target_}, {"flatten", true}})["sessionId"];
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
    call("Emulation.setTouchEmulationEnabled", {{"enabled", true}, {"maxTouchPoints", 2}});
    call("Page.enable", json::object());
    call("Page.navigate", {{"url", url}});
  }

  /// What an expression gives, awaited.
  json evaluate(const std::string& expression) {
    const json r =
        call("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
    if (r.contains("exceptionDetails")) throw std::runtime_error(r.dump());
    return r["result"].value("value", json());
  }
  /// Bytes of a PNG.
  std::string screenshot() {
    return from_base64(call("Page.captureScreenshot", {{"format", "png"}})["data"].get<std::string>());
  }

  /// Throws where the browser says that it is an error, or nothing within a minute.
  json call(const std::string& method, const json& parameters) {
    json message{{"id", ++id_}, {"method", method}, {"params", parameters}};
    if (!session_.empty()) message["sessionId"] = session_;
    const std::string text = message.dump() + '\0';
    if (::write(to_.write, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("the browser has ended");
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (;;) {
      for (std::size_t end; (end = buffer_.find('\0')) != std::string::npos;) {
        json answer = json::parse(buffer_.substr(0, end));
        buffer_.erase(0, end + 1);
        if (answer.value("id", 0) != id_) continue;
        if (answer.contains("error")) throw std::runtime_error(method + ": " + answer["error"].dump());
        return answer["result"];
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      pollfd wait{from_.read, POLLIN, 0};
      char piece[1 << 16];
      ssize_t n = 0;
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0 ||
          (n = ::read(from_.read, piece, sizeof piece)) <= 0)
        throw std::runtime_error(method + ": the browser says nothing");
      buffer_.append(piece, static_cast<std::size_t>(n));
    }
  }

 private:
  const TempFolder folder_;
  Pipe to_, from_;
  int quiet_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::unique_ptr<Process> process_;
  std::string buffer_, target_, session_;
  int id_ = 0;
};

}  // namespace rlx::cli::testing
