#include "runtime/constants.hpp"

#include "runtime/in_use.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rlx::runtime {

Constant::Constant(std::shared_ptr<Device> device, HostTensor value)
    : device_(std::move(device)), value_(std::move(value)) {
  if (device_->host_addressable()) {
    // Kernels take addresses without const; what they write is never a constant, as the verifier of LIR sees to.
    allocation_ = {const_cast<std::byte*>(value_.data()), value_.bytes()};
    return;
  }
  allocation_ = device_->allocate(std::max<std::int64_t>(value_.bytes(), 1));
  try {
    device_->upload(allocation_, 0, value_.data(), value_.bytes());
  } catch (...) {
    device_->release(allocation_);
    throw;
  }
}

Constant::~Constant() {
  if (!device_->host_addressable()) device_->release(allocation_);
}

std::shared_ptr<const Constant> constant_on(const std::shared_ptr<Device>& device, const HostTensor& value) {
  // Of a device, the elements' address and their bytes: a view may begin where a longer one does.
  using Key = std::tuple<const Device*, const std::byte*, std::int64_t>;
  static InUse<Constant, Key> constants;
  return constants.get({device.get(), value.data(), value.bytes()},
                       [&] { return std::make_shared<const Constant>(device, value); });
}

}  // namespace rlx::runtime
