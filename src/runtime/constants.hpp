// The constants of programs on their devices, one copy for all programs that have the same one.
#pragma once
#include <rlx/ir/host_tensor.hpp>
#include <rlx/runtime/backend.hpp>

#include <memory>

namespace rlx::runtime {

/// Elements that a device reads and nobody writes: where host memory is its own, the tensor's, else a copy. Freed with
/// it.
class Constant {
 public:
  /// Throws MemoryError where the device has no room for the copy.
  Constant(std::shared_ptr<Device> device, HostTensor value);
  ~Constant();
  Constant(const Constant&) = delete;
  Constant& operator=(const Constant&) = delete;
  const Allocation& allocation() const { return allocation_; }
  std::int64_t bytes() const { return value_.bytes(); }

 private:
  const std::shared_ptr<Device> device_;
  const HostTensor value_;  // Held, so that its address stays its own.
  Allocation allocation_{};
};

/// That of the elements at the address of `value`: graphs that are specialised from one share its literals, and so do
/// their programs. Any thread. Throws as Constant.
std::shared_ptr<const Constant> constant_on(const std::shared_ptr<Device>& device, const HostTensor& value);

}  // namespace rlx::runtime
