#include <rlx/ir/error.hpp>
#include <rlx/runtime/executable.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

namespace rlx::runtime {
namespace {

std::optional<std::int64_t> number_in(const char* path) {
  std::ifstream in(path);
  std::int64_t v = 0;
  return in >> v ? std::optional(v) : std::nullopt;
}

std::int64_t machine_available() {
  std::ifstream in("/proc/meminfo");
  std::string key, unit;
  std::int64_t kib = 0;
  while (in >> key >> kib && std::getline(in, unit))
    if (key == "MemAvailable:") return kib * 1024;
  return INT64_MAX;
}

// Room of the control group, version 2 and then 1; where neither limits, there is no bound.
std::int64_t cgroup_available() {
  if (const auto limit = number_in("/sys/fs/cgroup/memory.max"))
    return *limit - number_in("/sys/fs/cgroup/memory.current").value_or(0);
  if (const auto limit = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
    return *limit - number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes").value_or(0);
  return INT64_MAX;
}

std::int64_t user_limit() {
  const char* text = std::getenv("RLX_MEMORY_LIMIT");
  if (!text || !*text) return INT64_MAX;
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
  return v << shift;
}

}  // namespace

std::int64_t available_memory() { return std::min({machine_available(), cgroup_available(), user_limit()}); }

}  // namespace rlx::runtime
