#include "runtime/disk_cache.hpp"

#include "ir/file_size_guard.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/runtime/cache_folder.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <unistd.h>

namespace rlx::runtime {

namespace fs = std::filesystem;

namespace {

constexpr char magic[8] = {'r', 'l', 'x', 'c', 'o', 'd', 'e', '1'};
constexpr std::string_view suffix = ".rlxcode";

/// magic, then these, then the key and the bytes.
struct Header {
  char magic[8];
  std::uint64_t key_size, size, checksum;
};

/// FNV-1a over 8 bytes at a time, with a last mix so that all bits of the end count.
std::uint64_t hash(std::string_view text, std::uint64_t h) {
  constexpr std::uint64_t prime = 0x100000001b3;
  while (text.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), 8);
    h = (h ^ word) * prime;
    h ^= h >> 29;
    text.remove_prefix(8);
  }
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * prime;
  h ^= h >> 32;
  return h * 0x9e3779b97f4a7c15;
}
std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::uint64_t checksum(std::string_view key, std::string_view bytes) {
  return hash(bytes, hash(key, 0xcbf29ce484222325));
}

struct LastFailure {
  std::mutex mutex;
  std::string text;
};
LastFailure& last_failure() {
  static LastFailure* f = new LastFailure;  // outlives static objects, caches among them
  return *f;
}
void note_failure(const fs::path& folder, const std::error_code& why) {
  LastFailure& f = last_failure();
  const std::lock_guard lock(f.mutex);
  f.text = "the cache folder " + folder.string() + " cannot be written (" +
           (why ? why.message() : std::string("no reason given")) + "): compiled code is not kept";
}

std::string hex(std::uint64_t x) {
  char digits[17] = {};
  for (int i = 0; i < 16; ++i) digits[i] = "0123456789abcdef"[x >> (60 - 4 * i) & 15];
  return digits;
}

}  // namespace

std::string cache_failure() {
  LastFailure& f = last_failure();
  const std::lock_guard lock(f.mutex);
  return f.text;
}

fs::path cache_folder_from_environment() {
  if (const char* folder = std::getenv("RLX_CACHE_DIR")) return std::string_view(folder) == "off" ? "" : folder;
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches && *caches) return fs::path(caches) / "rlx";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "rlx";
  return {};
}

std::string cache_folder_problem(const fs::path& folder) {
  if (folder.empty()) return {};
  std::error_code failed, ignored;
  std::vector<fs::path> made;
  for (fs::path p = folder; !p.empty() && p != p.root_path() && !fs::exists(p, ignored); p = p.parent_path())
    made.push_back(p);
  fs::create_directories(folder, failed);
  const fs::path probe = folder / (".tmp." + std::to_string(::getpid()) + ".probe");
  if (!failed && !std::ofstream(probe, std::ios::binary | std::ios::trunc))
    failed = std::error_code(errno, std::generic_category());
  fs::remove(probe, ignored);
  for (const fs::path& p : made) fs::remove(p, ignored);  // Where nobody put something into it meanwhile.
  return failed ? "the cache folder " + folder.string() + " cannot be written (" + failed.message() +
                      "): compiled code is not kept"
                : "";
}

DiskCache::Options DiskCache::options_from_environment() {
  Options o;
  if (const char* megabytes = std::getenv("RLX_CACHE_LIMIT_MB"); megabytes && *megabytes) {
    std::int64_t n = 0;
    const char* end = megabytes + std::strlen(megabytes);
    const auto r = std::from_chars(megabytes, end, n);
    if (r.ec != std::errc{} || r.ptr != end || n < 0 || n > (INT64_MAX >> 20))
      throw ArgumentError("RLX_CACHE_LIMIT_MB is \"" + std::string(megabytes) +
                          "\", expected a whole number of megabytes");
    o.limit_bytes = n << 20;
  }
  o.folder = cache_folder_from_environment();
  return o;
}

fs::path DiskCache::path_of(std::string_view key) const {
  return options_.folder / (hex(hash(key, 1)) + hex(hash(key, 2)) + std::string(suffix));
}

std::optional<std::vector<std::byte>> DiskCache::get(std::string_view key) {
  if (options_.folder.empty()) return std::nullopt;
  const fs::path path = path_of(key);
  std::error_code ignored;
  // Opening what is no file, a pipe, might wait for ever.
  if (const auto status = fs::status(path, ignored); fs::exists(status) && !fs::is_regular_file(status)) {
    ++corrupt_;
    ++misses_;
    return std::nullopt;
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    ++misses_;
    return std::nullopt;
  }
  const std::uint64_t size_on_disk = fs::file_size(path, ignored);
  Header h{};
  std::vector<std::byte> bytes;
  std::string stored;
  bool whole = false;
  if (in.read(reinterpret_cast<char*>(&h), sizeof h) && std::memcmp(h.magic, magic, sizeof magic) == 0 &&
      h.key_size == key.size() && h.size <= size_on_disk && sizeof h + h.key_size + h.size == size_on_disk) {
    stored.resize(h.key_size);
    bytes.resize(h.size);
    whole = in.read(stored.data(), static_cast<std::streamsize>(stored.size())) &&
            in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())) &&
            stored == key && checksum(key, text_of(bytes)) == h.checksum;
  }
  if (!whole) {
    ++corrupt_;
    ++misses_;
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  ++hits_;
  return bytes;
}

void DiskCache::put(std::string_view key, std::span<const std::byte> bytes) noexcept try {
  if (options_.folder.empty()) return;
  static std::atomic<std::uint64_t> serial{0};
  const FileSizeGuard guard;
  std::error_code failed, no_folder;
  fs::create_directories(options_.folder, no_folder);
  const fs::path path = path_of(key);
  const fs::path temporary = options_.folder / (".tmp." + std::to_string(::getpid()) + "." + std::to_string(++serial));
  {
    Header h{};
    std::memcpy(h.magic, magic, sizeof magic);
    h.key_size = key.size();
    h.size = bytes.size();
    h.checksum = checksum(key, text_of(bytes));
    errno = 0;
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(&h), sizeof h);
    out.write(key.data(), static_cast<std::streamsize>(key.size()));
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) {
      note_failure(options_.folder, no_folder ? no_folder : std::error_code(errno, std::generic_category()));
      fs::remove(temporary, failed);
      ++not_written_;
      return;
    }
  }
  fs::rename(temporary, path, failed);
  if (failed) {
    note_failure(options_.folder, failed);
    std::error_code ignored;
    fs::remove(temporary, ignored);
    ++not_written_;
    return;
  }
  // Looking at every file is dear: the first put of a process does it, and then one in sixteen.
  if (puts_++ % 16 == 0) evict();
} catch (...) { ++not_written_; }

void DiskCache::evict() noexcept try {
  const std::unique_lock lock(evicting_, std::try_to_lock);
  if (!lock) return;
  struct Entry {
    fs::file_time_type used;
    std::int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  std::error_code failed;
  for (fs::directory_iterator it(options_.folder, failed), end; !failed && it != end; it.increment(failed)) {
    const bool is_entry = it->path().extension() == suffix;
    std::error_code gone;
    const auto used = it->last_write_time(gone);
    const auto bytes = static_cast<std::int64_t>(it->file_size(gone));
    if (gone) continue;
    if (is_entry) {
      entries.push_back({used, bytes, it->path()});
      total += bytes;
    } else if (it->path().filename().string().starts_with(".tmp.") &&
               used < fs::file_time_type::clock::now() - std::chrono::hours(1))
      fs::remove(it->path(), gone);  // left by a process that died
  }
  if (total <= options_.limit_bytes) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= options_.limit_bytes) break;
    std::error_code gone;
    if (fs::remove(e.path, gone)) ++evicted_;
    total -= e.bytes;
  }
} catch (...) {}

DiskCache::Counters DiskCache::counters() const { return {hits_, misses_, corrupt_, not_written_, evicted_}; }

}  // namespace rlx::runtime
