// One OpenCL device with its context and in-order queue, and what calls of the API have in common.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include "runtime/in_use.hpp"

#include <CL/cl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rlx::oneapi {

/// Throws DeviceError with `call` and the code unless it is CL_SUCCESS.
void check(cl_int code, const char* call);

/// Owner of an OpenCL object.
template <class Handle, cl_int (*release)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle h) : handle_(h) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&& o) noexcept : handle_(o.handle_) { o.handle_ = nullptr; }
  Owned& operator=(Owned&& o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_) release(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using OwnedContext = Owned<cl_context, clReleaseContext>;
using OwnedQueue = Owned<cl_command_queue, clReleaseCommandQueue>;
using OwnedProgram = Owned<cl_program, clReleaseProgram>;
using OwnedKernel = Owned<cl_kernel, clReleaseKernel>;
using OwnedMemory = Owned<cl_mem, clReleaseMemObject>;

/// What was found, without opening anything.
struct Found {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;  ///< Null: none that can be used.
  std::string looked_for;
};
/// The first device with fp64, of the platform that RLX_ONEAPI_PLATFORM (part of its name) selects, else of any.
/// Devices are never chosen by their names, which follow the host's processor.
Found find_device();

/// Shared by a device and its modules, so that either may be destroyed first.
struct Context {
  explicit Context(const Found& found);
  cl_device_id device;
  OwnedContext context;
  OwnedQueue queue;
  std::string description;
  std::string build_options;
  /// The compiled program of this source; one that a module runs serves the next. Throws DeviceError with the
  /// compiler's log.
  std::shared_ptr<const OwnedProgram> code_of(const std::string& source);
  runtime::InUse<OwnedProgram> codes;
  std::int64_t max_allocation = 0, global_memory = 0, local_memory = 0, max_group_threads = 0;
};

std::string device_text(cl_device_id d, cl_device_info what);
std::string platform_text(cl_platform_id p, cl_platform_info what);
template <class T>
T device_fact(cl_device_id d, cl_device_info what) {
  T value{};
  check(clGetDeviceInfo(d, what, sizeof value, &value, nullptr), "clGetDeviceInfo");
  return value;
}

}  // namespace rlx::oneapi
