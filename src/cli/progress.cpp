#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

namespace rlx::cli {

Progress::Progress() : terminal_(::isatty(STDERR_FILENO)) {
  if (!terminal_) return;
  try {
    painter_ = std::thread([this] { show(); });
  } catch (const std::system_error&) {}  // No thread to be had: the work goes on unpainted.
}

Progress::~Progress() {
  if (!terminal_) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_all();
  if (painter_.joinable()) painter_.join();
}

void Progress::stage(std::string what) {
  if (!terminal_) return;
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  since_ = std::chrono::steady_clock::now();
}

void Progress::advance(const std::string& what, std::int64_t done, std::int64_t total, const std::string& remark) {
  if (!terminal_) return;
  constexpr std::int64_t width = 24;
  const auto filled =
      static_cast<std::size_t>(total > 0 ? std::clamp<std::int64_t>(width * done / total, 0, width) : 0);
  std::string line = what + " [" + std::string(filled, '=') + std::string(width - filled, ' ') + "] " +
                     std::to_string(done) + "/" + std::to_string(total) + " " + remark;
  const std::lock_guard lock(mutex_);
  what_ = std::move(line);
}

void Progress::show() {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  bool painted = false;
  while (!ended_.wait_for(lock, 500ms, [&] { return done_; })) {
    if (what_.empty()) continue;
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - since_).count();
    std::fprintf(stderr, "\r\033[K%s ... %lld s", what_.c_str(), static_cast<long long>(seconds));
    std::fflush(stderr);
    painted = true;
  }
  if (painted) std::fputs("\r\033[K", stderr);
}

}  // namespace rlx::cli
