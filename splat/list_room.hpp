// Room for the lists of tiles where programs are compiled for a number of entries.
#pragma once
#include <rlx/tensor.hpp>

#include "splat/entries.hpp"

namespace rlx::splat {

/// Entries that programs are compiled for. They only grow, by a factor, so that there are few programs.
class ListRoom {
 public:
  explicit ListRoom(std::int64_t entries) : entries_(std::clamp<std::int64_t>(entries, 1 << 12, most_entries)) {}
  std::int64_t entries() const { return entries_; }

  /// f(), again and again with more room, until the lists fit: element `at` of what it returns says how many entries
  /// they would have had (Rendered::wanted). Throws MemoryError, which says how many, where they are not to be had.
  template <class F>
  Tensors fitted(std::size_t at, const F& f) {
    for (;;) {
      Tensors out = f();
      const auto wanted = out[at].item<std::int64_t>();
      if (wanted <= entries_) return out;
      require_counted(wanted);
      require_memory("lists of tiles with " + std::to_string(wanted) + " entries",
                     static_cast<std::uint64_t>(wanted) * entry_bytes);
      while (entries_ < std::min(most_entries, wanted + wanted / 2)) entries_ = std::min(most_entries, 2 * entries_);
    }
  }

 private:
  std::int64_t entries_;
};

}  // namespace rlx::splat
