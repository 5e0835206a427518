// Values by key for as long as somebody holds them.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace rlx::runtime {

/// Any thread. What one program has made (compiled code, a constant on its device) serves the next one that wants the
/// same. Two that want what is not there at the same time make it twice, and one of the two is kept.
template <class T, class Key = std::string>
class InUse {
 public:
  using Pointer = std::shared_ptr<const T>;

  /// What is held under `key`, else what `make()` gives, a Pointer.
  template <class Make>
  Pointer get(const Key& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = held_.find(key); it != held_.end())
        if (Pointer there = it->second.lock()) return there;
    }
    Pointer made = make();
    const std::lock_guard lock(mutex_);
    if (held_.size() >= sweep_at_) {
      std::erase_if(held_, [](const auto& h) { return h.second.expired(); });
      sweep_at_ = 2 * held_.size() + 16;
    }
    // Of another thread that made it meanwhile, whoever holds that may let go at any time.
    std::weak_ptr<const T>& held = held_[key];
    if (Pointer there = held.lock()) return there;
    held = made;
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const T>> held_;
  std::size_t sweep_at_ = 16;  // Entries of what nobody holds any more are no more than those of what somebody does.
};

}  // namespace rlx::runtime
