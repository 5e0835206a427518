// The oneapi device: OpenCL memory objects, one in-order queue, kernels compiled from OpenCL C.
#include "computes_in.hpp"
#include "kernels.hpp"
#include "opencl_c.hpp"
#include "program.hpp"

#include "compile/emit_source/scalar.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <atomic>

namespace rlx::oneapi {
namespace {

class OneapiDevice final : public runtime::Device {
 public:
  explicit OneapiDevice(const Found& found) : context_(std::make_shared<Context>(found)) {
    target_.device = "oneapi";
    target_.description = context_->description;
    target_.compute = storable;  // names in a body may be of any type; operators say which they compute with
    target_.expresses = [](const Instance& i) { return emit_source::expresses(opencl_c, i); };
    target_.computes_in = computes_in;
    target_.max_slab_bytes = context_->max_allocation;
    target_.max_team_threads = context_->max_group_threads;
    target_.local_bytes = context_->local_memory;
  }

  const Target& target() const override { return target_; }
  std::span<const KernelRecord> records() const override { return kernel_records(); }
  bool host_addressable() const override { return false; }

  runtime::Allocation allocate(std::int64_t bytes) override {
    // No object of size 0; whole words, because packed stores exchange the word around a byte.
    const std::int64_t size = std::max<std::int64_t>((bytes + 7) / 8 * 8, 8);
    const std::int64_t free = context_->global_memory - used_.load();
    const std::int64_t available = std::min(context_->max_allocation, free);
    if (bytes < 0 || size > available)
      throw MemoryError("OpenCL buffer", static_cast<std::uint64_t>(bytes),
                        static_cast<std::uint64_t>(std::max<std::int64_t>(available, 0)));
    cl_int code = CL_SUCCESS;
    const cl_mem memory =
        clCreateBuffer(context_->context.get(), CL_MEM_READ_WRITE, static_cast<std::size_t>(size), nullptr, &code);
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY ||
        code == CL_INVALID_BUFFER_SIZE)
      throw MemoryError("OpenCL buffer", static_cast<std::uint64_t>(bytes), static_cast<std::uint64_t>(available));
    check(code, "clCreateBuffer");
    used_ += size;
    return {memory, bytes};
  }
  void release(const runtime::Allocation& a) noexcept override {
    if (!a.handle) return;
    clReleaseMemObject(static_cast<cl_mem>(a.handle));  // OpenCL keeps it until the commands that use it have run
    used_ -= std::max<std::int64_t>((a.bytes + 7) / 8 * 8, 8);
  }
  void upload(const runtime::Allocation& to, std::int64_t offset, const void* from, std::int64_t bytes) override {
    inside(to, offset, bytes);
    if (bytes == 0) return;
    check(clEnqueueWriteBuffer(queue(), static_cast<cl_mem>(to.handle), CL_TRUE, static_cast<std::size_t>(offset),
                               static_cast<std::size_t>(bytes), from, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  void download(void* to, const runtime::Allocation& from, std::int64_t offset, std::int64_t bytes) override {
    inside(from, offset, bytes);
    if (bytes == 0) return;
    check(clEnqueueReadBuffer(queue(), static_cast<cl_mem>(from.handle), CL_TRUE, static_cast<std::size_t>(offset),
                              static_cast<std::size_t>(bytes), to, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  void copy(const runtime::Allocation& to, std::int64_t to_offset, const runtime::Allocation& from,
            std::int64_t from_offset, std::int64_t bytes) override {
    inside(to, to_offset, bytes);
    inside(from, from_offset, bytes);
    if (bytes == 0 || (to.handle == from.handle && to_offset == from_offset)) return;
    check(clEnqueueCopyBuffer(queue(), static_cast<cl_mem>(from.handle), static_cast<cl_mem>(to.handle),
                              static_cast<std::size_t>(from_offset), static_cast<std::size_t>(to_offset),
                              static_cast<std::size_t>(bytes), 0, nullptr, nullptr),
          "clEnqueueCopyBuffer");
  }
  void synchronize() override { check(clFinish(queue()), "clFinish"); }

  std::unique_ptr<runtime::Module> compile(const Graph& lir) override {
    return std::make_unique<Program>(context_, lir);
  }

 private:
  cl_command_queue queue() const { return context_->queue.get(); }
  static void inside(const runtime::Allocation& a, std::int64_t offset, std::int64_t bytes) {
    if (offset < 0 || bytes < 0 || offset > a.bytes - bytes)
      throw InternalError("bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                          " of an allocation of " + std::to_string(a.bytes));
  }

  std::shared_ptr<Context> context_;
  Target target_;
  std::atomic<std::int64_t> used_{0};
};

runtime::Availability availability() {
  const Found found = find_device();
  if (!found.device) return {false, found.looked_for};
  return {true, found.looked_for + "; using " + platform_text(found.platform, CL_PLATFORM_NAME) + ", " +
                    device_text(found.device, CL_DEVICE_NAME)};
}

std::shared_ptr<runtime::Device> open_device() { return std::make_shared<OneapiDevice>(find_device()); }

}  // namespace
}  // namespace rlx::oneapi

namespace rlx::runtime {
extern constinit const BackendEntry oneapi_backend{
    "oneapi", oneapi::availability, oneapi::open_device,
    "OpenCL C kernels compiled and run by whatever OpenCL device is installed (PoCL or Intel's runtime on a CPU); no "
    "Intel GPU has run it"};
}  // namespace rlx::runtime
