// What is said of time: seconds, and one changing line on standard error while something takes long; nothing where that
// is no terminal.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace rlx::cli {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Progress {
 public:
  Progress();
  ~Progress();  ///< Clears the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// What goes on from now on. The line is painted every half second, with the seconds since this stage began.
  void stage(std::string what);
  /// Says it otherwise without beginning a stage: `done` of `total` as a bar, and a remark.
  void advance(const std::string& what, std::int64_t done, std::int64_t total, const std::string& remark);

 private:
  void show();
  const bool terminal_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::string what_;
  std::chrono::steady_clock::time_point since_{};
  bool done_ = false;
  std::thread painter_;
};

}  // namespace rlx::cli
