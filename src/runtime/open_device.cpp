#include "ir/wording.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/runtime/backends.hpp>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace rlx::runtime {

std::shared_ptr<Device> open_device(std::string_view name) {
  static std::mutex mutex;
  // Never destroyed: drivers' own static objects may be gone by the time this one would go.
  static auto& opened = *new std::map<std::string, std::shared_ptr<Device>, std::less<>>;
  const std::lock_guard lock(mutex);
  if (const auto it = opened.find(name); it != opened.end()) return it->second;
  std::string known;
  std::vector<std::string_view> names;
  for (const BackendEntry* b : backends()) {
    known += (known.empty() ? "" : ", ") + std::string(b->name);
    names.push_back(b->name);
    if (b->name != name) continue;
    const Availability a = b->availability();
    if (!a.available)
      throw DeviceError(std::string(name), 0, "device \"" + std::string(name) + "\" is not available: " + a.looked_for);
    return opened.emplace(std::string(name), b->open()).first->second;
  }
  throw ArgumentError("unknown device \"" + shortened(name) + "\"; this build has " + known +
                      did_you_mean(name, names));
}

}  // namespace rlx::runtime
