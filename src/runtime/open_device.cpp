#include "ir/wording.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/runtime/backends.hpp>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace rlx::runtime {

/// Whether the name is the one in the environment: what is wrong with it is then to be looked for there.
static bool is_of_environment(std::string_view name) {
  const char* given = std::getenv("RLX_DEVICE");
  return given && name == given;
}

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
      throw DeviceError(std::string(name), 0,
                        "device \"" + std::string(name) + "\"" + (is_of_environment(name) ? " of RLX_DEVICE" : "") +
                            " is not available: " + a.looked_for);
    return opened.emplace(std::string(name), b->open()).first->second;
  }
  const std::string quoted = "\"" + shortened(name) + "\"";
  throw ArgumentError((is_of_environment(name) ? "RLX_DEVICE is " + quoted + ", expected one of "
                                               : "unknown device " + quoted + "; this build has ") +
                      known + did_you_mean(name, names));
}

}  // namespace rlx::runtime
