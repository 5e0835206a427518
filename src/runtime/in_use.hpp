// Values by key for as long as somebody holds them.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace rlx::runtime {

/// Any thread. Of compiled code: what one program runs serves the next one whose kernels have its text. Two that want
/// what is not there at the same time make it twice, and one of the two is kept.
template <class T>
class InUse {
 public:
  using Pointer = std::shared_ptr<const T>;

  /// What is held under `key`, else what `make()` gives.
  template <class Make>
  Pointer get(const std::string& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = held_.find(key); it != held_.end())
        if (Pointer there = it->second.lock()) return there;
    }
    Pointer made = std::make_shared<const T>(make());
    const std::lock_guard lock(mutex_);
    std::erase_if(held_, [](const auto& h) { return h.second.expired(); });
    std::weak_ptr<const T>& held = held_[key];
    // Of another thread that made it meanwhile; whoever holds that may let go at any time.
    if (Pointer there = held.lock()) return there;
    held = made;
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const T>> held_;
};

}  // namespace rlx::runtime
