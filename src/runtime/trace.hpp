// RLX_TRACE=file.json: what every step took, for chrome://tracing and ui.perfetto.dev.
#pragma once
#include "runtime/steps.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rlx::runtime {

/// Events of a process in the Chrome trace format: {"traceEvents": [{"name", "cat", "ph": "X", "ts" and "dur" in
/// microseconds, "pid", "tid", "args": {"program", "node", "op", "location"}}], "otherData": {"dropped"}}. The file is
/// written under another name and renamed: at the end of the process, and meanwhile at most once a second and for a
/// tenth of the time. Threads may record at once.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Writes a file without events at once: throws ArgumentError where that cannot be.
  explicit Trace(std::filesystem::path file);
  ~Trace();
  /// The trace that RLX_TRACE asked for when this was first called; null where it is unset or empty.
  static Trace* of_process();

  void record(std::shared_ptr<const StepInfo> step, std::shared_ptr<const std::string> program, Clock::time_point start,
              Clock::time_point end);
  void write_if_due() noexcept;
  void write();  ///< Throws ArgumentError.

 private:
  struct Event {
    std::shared_ptr<const StepInfo> step;
    std::shared_ptr<const std::string> program;
    double start, duration;  // Microseconds since `begin_`.
    int thread;
  };
  static std::string text_of(const Event& e, std::int64_t pid);
  static constexpr std::size_t limit = 1 << 20;  // Events kept; about 100 bytes each.

  const std::filesystem::path file_;
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  std::vector<Event> events_;
  std::int64_t dropped_ = 0;
  Clock::time_point written_ = begin_;
  Clock::duration pause_ = std::chrono::seconds(1);  // Until it is written again.
};

}  // namespace rlx::runtime
