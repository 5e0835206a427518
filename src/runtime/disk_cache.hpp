// A folder of compiled code, shared by processes: key text -> bytes. It never makes a program fail: what cannot be read
// or written is compiled again and counted.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::runtime {

class DiskCache {
 public:
  struct Options {
    std::filesystem::path folder{};          ///< Empty: no cache.
    std::int64_t limit_bytes = 512ll << 20;  ///< Above it the entries used longest ago go.
  };
  struct Counters {
    std::int64_t hits = 0, misses = 0, corrupt = 0, not_written = 0, evicted = 0;
  };

  /// cache_folder_from_environment() and RLX_CACHE_LIMIT_MB.
  static Options options_from_environment();
  explicit DiskCache(Options options) : options_(std::move(options)) {}

  /// The bytes last put under exactly this key, if they are still there and whole.
  std::optional<std::vector<std::byte>> get(std::string_view key);
  /// Appears at once or not at all: written under another name, then renamed.
  void put(std::string_view key, std::span<const std::byte> bytes) noexcept;
  Counters counters() const;
  const Options& options() const { return options_; }

 private:
  std::filesystem::path path_of(std::string_view key) const;
  void evict() noexcept;
  Options options_;
  std::atomic<std::int64_t> hits_{0}, misses_{0}, corrupt_{0}, not_written_{0}, evicted_{0}, puts_{0};
  std::mutex evicting_;
};

}  // namespace rlx::runtime
