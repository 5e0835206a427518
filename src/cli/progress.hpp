// One changing line on standard error while something takes long; nothing where that is no terminal.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace rlx::cli {

class Progress {
 public:
  Progress();
  ~Progress();  ///< Clears the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// What goes on from now on; the line appears when it has gone on for half a second, with the seconds since.
  void stage(std::string what);

 private:
  void show();
  const bool terminal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::uint64_t stages_ = 0;
  bool done_ = false;
  std::thread painter_;
};

}  // namespace rlx::cli
