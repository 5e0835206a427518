// Values by key, made when they are first wanted, of which those used last are kept.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace rlx::runtime {

/// Any thread. A value is made by the first that wants it: others that want it wait for that, those that want another
/// one do not. Who holds a value that goes keeps it whole.
template <class Key, class T>
class Kept {
 public:
  using Pointer = std::shared_ptr<T>;

  /// At least one is kept. `dropped` sees each that goes for want of room, while the others stay as they are.
  explicit Kept(std::size_t limit, std::function<void(T&)> dropped = {})
      : limit_(std::max<std::size_t>(limit, 1)), dropped_(std::move(dropped)) {}

  /// The value of `key`, which `make` gives where there is none. What that throws leaves nothing behind: the next call,
  /// or one that waits, tries again.
  template <class Make>
  Pointer get(const Key& key, const Make& make) {
    const std::shared_ptr<Slot> slot = slot_of(key);
    const std::lock_guard making(slot->making);
    if (slot->value) return slot->value;
    try {
      const Pointer made = make();
      keep(key, slot, made);
      return made;
    } catch (...) {
      forget(key, slot);
      throw;
    }
  }

  /// `look(values)`, oldest first, while none comes or goes.
  template <class Look>
  void view(const Look& look) const {
    const std::lock_guard lock(mutex_);
    std::vector<const Slot*> order;
    for (const auto& [key, slot] : slots_)
      if (slot->made > 0) order.push_back(slot.get());
    std::sort(order.begin(), order.end(), [](const Slot* a, const Slot* b) { return a->made < b->made; });
    std::vector<Pointer> values;
    for (const Slot* s : order) values.push_back(s->value);
    look(std::as_const(values));
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(slots_.begin(), slots_.end(), [](const auto& s) { return s.second->made > 0; }));
  }

 private:
  struct Slot {
    std::mutex making;  // Held while the value is made; taken before mutex_, which guards the numbers.
    Pointer value;
    std::uint64_t used = 0, made = 0;  // made: 0 until the value is there.
  };

  std::shared_ptr<Slot> slot_of(const Key& key) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Slot>& slot = slots_[key];
    if (!slot) slot = std::make_shared<Slot>();
    slot->used = ++clock_;
    return slot;
  }
  void keep(const Key& key, const std::shared_ptr<Slot>& slot, const Pointer& made) {
    const std::lock_guard lock(mutex_);
    slot->value = made;
    slot->made = ++clock_;
    slots_.try_emplace(key, slot);  // Gone where an earlier attempt threw.
    std::size_t there = 0;
    auto oldest = slots_.end();
    for (auto it = slots_.begin(); it != slots_.end(); ++it) {
      if (it->second->made == 0) continue;
      ++there;
      if (it->second != slot && (oldest == slots_.end() || it->second->used < oldest->second->used)) oldest = it;
    }
    if (there <= limit_) return;
    if (dropped_) dropped_(*oldest->second->value);
    slots_.erase(oldest);
  }
  void forget(const Key& key, const std::shared_ptr<Slot>& slot) {
    const std::lock_guard lock(mutex_);
    if (const auto it = slots_.find(key); it != slots_.end() && it->second == slot) slots_.erase(it);
  }

  const std::size_t limit_;
  const std::function<void(T&)> dropped_;
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<Slot>> slots_;
  std::uint64_t clock_ = 0;
};

}  // namespace rlx::runtime
