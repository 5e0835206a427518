#include "runtime/trace.hpp"

#include <rlx/ir/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include <unistd.h>

namespace rlx::runtime {

// Threads by the order in which they first record.
static int thread_number() {
  static std::atomic<int> next{1};
  thread_local const int number = next++;
  return number;
}

Trace::Trace(std::filesystem::path file) : file_(std::move(file)) { write(); }

Trace::~Trace() {
  try {
    write();
  } catch (const std::exception&) {  // The process ends: there is nobody to tell.
  }
}

Trace* Trace::of_process() {
  static const std::unique_ptr<Trace> trace = []() -> std::unique_ptr<Trace> {
    const char* file = std::getenv("RLX_TRACE");
    if (!file || !*file) return nullptr;
    return std::make_unique<Trace>(std::filesystem::absolute(file));
  }();
  return trace.get();
}

void Trace::record(std::shared_ptr<const StepInfo> step, std::shared_ptr<const std::string> program,
                   Clock::time_point start, Clock::time_point end) {
  using Microseconds = std::chrono::duration<double, std::micro>;
  const std::lock_guard lock(mutex_);
  if (events_.size() == limit) {
    ++dropped_;
    return;
  }
  events_.push_back({std::move(step), std::move(program), Microseconds(start - begin_).count(),
                     Microseconds(end - start).count(), thread_number()});
}

void Trace::write_if_due() noexcept {
  try {
    {
      const std::lock_guard lock(mutex_);
      if (Clock::now() - written_ < pause_) return;
    }
    write();
  } catch (const std::exception&) {  // A full disk must not fail the computation; the next write may succeed.
  }
}

std::string Trace::text_of(const Event& e, std::int64_t pid) {
  const nlohmann::json event{{"name", e.step->name},
                             {"cat", e.step->kind},
                             {"ph", "X"},
                             {"ts", e.start},
                             {"dur", e.duration},
                             {"pid", pid},
                             {"tid", e.thread},
                             {"args",
                              {{"program", *e.program},
                               {"node", e.step->node},
                               {"op", e.step->op},
                               {"location", e.step->location.to_string()}}}};
  return event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void Trace::write() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point start = Clock::now();
  const auto pid = static_cast<std::int64_t>(::getpid());
  const std::filesystem::path temporary = file_.string() + ".tmp." + std::to_string(pid);
  std::error_code failed;
  {
    std::ofstream out(temporary, std::ios::trunc);
    const int opened = out ? 0 : errno;
    out << "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"dropped\": " << dropped_ << "}, \"traceEvents\": [";
    // One by one: all of them as a document would take a gigabyte.
    for (std::size_t i = 0; i < events_.size(); ++i) out << (i ? ",\n" : "\n") << text_of(events_[i], pid);
    out << "]}\n";
    out.close();
    if (!out) failed = {opened != 0 ? opened : EIO, std::generic_category()};
  }
  if (!failed) std::filesystem::rename(temporary, file_, failed);
  if (failed) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw ArgumentError("RLX_TRACE: \"" + file_.string() + "\" cannot be written: " + failed.message());
  }
  written_ = Clock::now();
  pause_ = std::max<Clock::duration>(std::chrono::seconds(1), 10 * (written_ - start));
}

}  // namespace rlx::runtime
