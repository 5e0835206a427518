// Device memory that is given back, and how much of it is held.
#pragma once
#include <rlx/runtime/backend.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace rlx::runtime {

/// Bytes that a program holds, and the most that it held at once.
class Meter {
 public:
  void add(std::int64_t bytes) {
    const std::int64_t now = held_ += bytes;
    for (std::int64_t peak = peak_; now > peak && !peak_.compare_exchange_weak(peak, now);) {}
  }
  std::int64_t peak() const { return peak_; }

 private:
  std::atomic<std::int64_t> held_{0}, peak_{0};
};

/// Freed with it.
class Block {
 public:
  Block() = default;
  Block(Device& d, Meter& m, std::int64_t bytes)
      : device_(&d), meter_(&m), allocation_(d.allocate(std::max<std::int64_t>(bytes, 1))) {
    m.add(bytes_ = bytes);
  }
  Block(Block&& o) noexcept
      : device_(std::exchange(o.device_, nullptr)), meter_(o.meter_), allocation_(o.allocation_), bytes_(o.bytes_) {}
  Block& operator=(Block&& o) noexcept {
    std::swap(device_, o.device_);
    std::swap(meter_, o.meter_);
    std::swap(allocation_, o.allocation_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  ~Block() {
    if (!device_) return;
    device_->release(allocation_);
    meter_->add(-bytes_);
  }
  const Allocation& allocation() const { return allocation_; }

 private:
  Device* device_ = nullptr;
  Meter* meter_ = nullptr;
  Allocation allocation_{};
  std::int64_t bytes_ = 0;
};

}  // namespace rlx::runtime
