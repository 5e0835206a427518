// The programs of values that symbols and sizes come to: the ones used last are kept, and the memory of one.
#pragma once
#include "runtime/compiled_graph.hpp"
#include "runtime/kept.hpp"

#include <rlx/ir/shape.hpp>

#include <set>

namespace rlx::runtime {

/// Any thread, as Kept. Calls that run hold the program that they run, so one that goes ends with them.
class KeptPrograms {
 public:
  explicit KeptPrograms(std::size_t limit)
      : programs_(limit, [this](CompiledGraph& gone) { add(gone_, gone.statistics()); }) {}

  /// The program of these values, which `make` gives where there is none. The one used before gives back its memory: a
  /// size that came by once must not hold what it needed then.
  template <class Make>
  std::shared_ptr<CompiledGraph> get(const Bindings& values, const Make& make) {
    std::shared_ptr<CompiledGraph> now = programs_.get(values, make), before;
    {
      const std::lock_guard lock(mutex_);
      if (latest_ != now) before = std::exchange(latest_, now);
    }
    if (before) before->trim();
    return now;
  }

  std::shared_ptr<const CompiledGraph> latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }
  std::size_t size() const { return programs_.size(); }
  void trim() {
    programs_.view([](const auto& programs) {
      for (const auto& p : programs) p->trim();
    });
  }
  /// Of all their calls, also of those that are gone; peak_bytes: the largest of them, since they run one at a time but
  /// for callers that overlap.
  ExecutableStatistics statistics() const {
    ExecutableStatistics s;
    programs_.view([&](const auto& programs) {
      s = gone_;
      for (const auto& p : programs) add(s, p->statistics());
      s.programs = static_cast<std::int64_t>(programs.size());
    });
    std::set<const void*> codes;
    add_codes(codes);
    s.codes = static_cast<std::int64_t>(codes.size());
    return s;
  }
  void add_codes(std::set<const void*>& codes) const {
    programs_.view([&](const auto& programs) {
      for (const auto& p : programs) p->add_codes(codes);
    });
  }

 private:
  static void add(ExecutableStatistics& s, const ExecutableStatistics& one) {
    s.calls += one.calls;
    s.peak_bytes = std::max(s.peak_bytes, one.peak_bytes);
    s.in_place_bytes += one.in_place_bytes;
    s.copied_bytes += one.copied_bytes;
  }

  ExecutableStatistics gone_;  // Changes only where programs_ drops one.
  Kept<Bindings, CompiledGraph> programs_;
  mutable std::mutex mutex_;
  std::shared_ptr<CompiledGraph> latest_;
};

}  // namespace rlx::runtime
