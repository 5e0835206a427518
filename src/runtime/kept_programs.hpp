// The programs of a size that is read: the ones used last are kept, and the memory of one.
#pragma once
#include "runtime/compiled_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace rlx::runtime {

/// Not for several threads at once. Calls that run hold the program that they run, so one that goes ends with them.
class KeptPrograms {
 public:
  explicit KeptPrograms(std::size_t limit) : limit_(limit) {}

  /// The program of that size, which `make` gives where there is none; nothing is kept of one that throws. The one used
  /// before gives back its memory: a size that came by once must not hold what it needed then. The one not used for
  /// longest goes where there are more than the limit.
  template <class Make>
  std::shared_ptr<CompiledGraph> get(std::int64_t size, const Make& make) {
    auto it = programs_.find(size);
    if (it == programs_.end()) {
      std::shared_ptr<CompiledGraph> made = make();
      if (programs_.size() == limit_) drop_oldest();
      it = programs_.emplace(size, Kept{std::move(made), 0}).first;
    }
    it->second.used = ++clock_;
    if (latest_ && latest_ != it->second.program) latest_->trim();
    return latest_ = it->second.program;
  }

  const CompiledGraph* latest() const { return latest_.get(); }
  std::size_t size() const { return programs_.size(); }
  void trim() {
    for (auto& [size, kept] : programs_) kept.program->trim();
  }
  /// Of all their calls, also of those that are gone; peak_bytes: the largest of them, since they run one at a time but
  /// for callers that overlap.
  ExecutableStatistics statistics() const {
    ExecutableStatistics s = gone_;
    for (const auto& [size, kept] : programs_) add(s, kept.program->statistics());
    return s;
  }

 private:
  struct Kept {
    std::shared_ptr<CompiledGraph> program;
    std::uint64_t used;
  };
  static void add(ExecutableStatistics& s, const ExecutableStatistics& one) {
    s.calls += one.calls;
    s.peak_bytes = std::max(s.peak_bytes, one.peak_bytes);
    s.in_place_bytes += one.in_place_bytes;
    s.copied_bytes += one.copied_bytes;
  }
  void drop_oldest() {
    const auto oldest = std::min_element(programs_.begin(), programs_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    add(gone_, oldest->second.program->statistics());
    programs_.erase(oldest);
  }

  const std::size_t limit_;
  std::map<std::int64_t, Kept> programs_;
  std::shared_ptr<CompiledGraph> latest_;
  std::uint64_t clock_ = 0;
  ExecutableStatistics gone_;
};

}  // namespace rlx::runtime
