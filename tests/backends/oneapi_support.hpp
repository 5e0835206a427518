// Runs LIR programs on the oneapi device, for its tests.
#pragma once
#include "../compile/scalar_ops.hpp"

#include <rlx/ir/host_tensor.hpp>
#include <rlx/runtime/backend.hpp>

#include <gtest/gtest.h>

namespace rlx::runtime {
extern const BackendEntry oneapi_backend;
}

namespace rlx::test {

/// Skips, saying what was looked for, where there is no OpenCL device.
class OneapiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const runtime::Availability a = runtime::oneapi_backend.availability();
    if (!a.available) GTEST_SKIP() << a.looked_for;
    // Never released: OpenCL runtimes tear themselves down by static destructors, before or after ours.
    static const std::shared_ptr<runtime::Device>& shared =
        *new std::shared_ptr<runtime::Device>(runtime::oneapi_backend.open());
    device = shared;
  }
  std::shared_ptr<runtime::Device> device;

  /// All buffers of a launch in one allocation, each at an offset of its own.
  struct Slab {
    runtime::Allocation memory;
    std::vector<std::int64_t> offsets;
    std::vector<runtime::KernelBuffer> buffers() const {
      std::vector<runtime::KernelBuffer> out;
      for (std::int64_t o : offsets) out.push_back({&memory, o});
      return out;
    }
  };
  Slab upload(const std::vector<HostTensor>& tensors) {
    Slab s;
    std::int64_t end = 64;
    for (const HostTensor& t : tensors) {
      s.offsets.push_back(end);
      end += (t.bytes() + 63) / 64 * 64;
    }
    s.memory = device->allocate(end);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      device->upload(s.memory, s.offsets[i], tensors[i].data(), tensors[i].bytes());
    return s;
  }
  /// Runs the only kernel of `g` on these contents; every tensor then holds what its buffer held afterwards.
  void run(const Graph& g, std::vector<HostTensor>& tensors) {
    const auto module = device->compile(g);
    const Slab s = upload(tensors);
    module->launch(0, s.buffers());
    device->synchronize();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      device->download(tensors[i].mutable_data(), s.memory, s.offsets[i], tensors[i].bytes());
    device->release(s.memory);
  }
};

/// A graph whose inputs are buffers of the tensors' types.
inline Values inputs_like(Builder& b, const std::vector<HostTensor>& tensors) {
  Values out;
  for (const HostTensor& t : tensors)
    out.push_back(b.input(device_buffer(t.dtype(), t.numel()), "b" + std::to_string(out.size())));
  return out;
}

}  // namespace rlx::test
