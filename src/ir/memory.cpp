#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace rlx {
namespace {

constexpr std::int64_t unlimited = INT64_MAX;

std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  std::int64_t v = 0;
  return in >> v ? std::optional(v) : std::nullopt;
}

/// The number behind `key` in a file of lines "key number".
std::optional<std::int64_t> entry_of(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  std::string word, rest;
  for (std::int64_t v = 0; in >> word >> v; std::getline(in, rest))
    if (word == key) return v;
  return std::nullopt;
}

std::int64_t machine_available() {
  const auto kib = entry_of("/proc/meminfo", "MemAvailable:");
  return kib ? *kib * 1024 : unlimited;
}

/// Folders of the control groups that this process is in, from its own to the outermost one that is mounted.
struct Groups {
  std::vector<std::string> v2, v1;
};

Groups own_groups() {
  Groups out;
  std::ifstream in("/proc/self/cgroup");  // "0::/a/b" of version 2, "4:memory:/a/b" of version 1
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool version2 = controllers == ",,";
    if (!version2 && controllers.find(",memory,") == std::string::npos) continue;
    std::string path = line.substr(second + 1);
    const std::string root = version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    auto& folders = version2 ? out.v2 : out.v1;
    for (; path.size() > 1; path.resize(path.rfind('/'))) folders.push_back(root + path);
    folders.push_back(root);  // in a container the own group may be mounted here
  }
  return out;
}

std::int64_t group_available() {
  static const Groups groups = own_groups();
  std::int64_t room = unlimited;
  const auto bound = [&](const std::string& folder, const char* limit, const char* use, const char* droppable) {
    const auto most = number_in(folder + limit);  // "max" is no number, and no bound
    if (!most) return;
    const std::int64_t used =
        number_in(folder + use).value_or(0) - entry_of(folder + "/memory.stat", droppable).value_or(0);
    room = std::min(room, *most - std::max<std::int64_t>(used, 0));
  };
  for (const std::string& f : groups.v2) bound(f, "/memory.max", "/memory.current", "inactive_file");
  for (const std::string& f : groups.v1)
    bound(f, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file");
  return room;
}

/// Of this process, in bytes: its address space, and the pages that it holds of its own (heap, stacks; no mapped
/// files).
struct Use {
  std::int64_t space = 0, own = 0;
};

Use own_use() {
  std::ifstream in("/proc/self/statm");
  std::int64_t size = 0, resident = 0, shared = 0;
  if (!(in >> size >> resident >> shared)) return {};
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  return {size * page, (resident - shared) * page};
}

std::int64_t address_space(const Use& use) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  return static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX)) - use.space;
}

std::int64_t user_limit(const Use& use) {
  const char* text = std::getenv("RLX_MEMORY_LIMIT");
  if (!text || !*text) return unlimited;
  const std::string s = text;
  std::int64_t v = 0;
  const auto [end, failure] = std::from_chars(s.data(), s.data() + s.size(), v);
  const std::string suffix(end, s.data() + s.size());
  int shift = -1;
  if (suffix.empty()) shift = 0;
  else if (suffix == "K") shift = 10;
  else if (suffix == "M") shift = 20;
  else if (suffix == "G") shift = 30;
  if (failure != std::errc{} || v < 0 || shift < 0 || v > INT64_MAX >> shift)
    throw ArgumentError("RLX_MEMORY_LIMIT is \"" + s + "\", expected bytes, or a number with the suffix K, M or G");
  return (v << shift) - use.own;
}

}  // namespace

std::int64_t available_memory() {
  const Use use = own_use();
  return std::max<std::int64_t>(
      0, std::min({machine_available(), group_available(), address_space(use), user_limit(use)}));
}

void require_memory(std::string_view what, std::uint64_t bytes) {
  if (bytes < std::uint64_t{worth_asking}) return;
  const auto room = static_cast<std::uint64_t>(available_memory());
  if (bytes <= room) return;
  // Where the user's own limit is the one in the way, "0 are available" would say nothing without it.
  std::string of(what);
  if (const std::int64_t left = user_limit(own_use()); left != unlimited && left <= static_cast<std::int64_t>(room))
    of += " under RLX_MEMORY_LIMIT=" + std::string(std::getenv("RLX_MEMORY_LIMIT"));
  throw MemoryError(of, bytes, room);
}

}  // namespace rlx
