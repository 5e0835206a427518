#include "program.hpp"

#include "opencl_c.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

namespace rlx::oneapi {

Program::Program(std::shared_ptr<Context> context, const Graph& lir)
    : context_(std::move(context)), emitted_(emit_source::emit(lir, opencl_c)) {
  for (const emit_source::EmittedKernel& k : emitted_.kernels)
    if (k.geometry.threads_per_group() > context_->max_group_threads)
      throw DeviceError("OpenCL", CL_INVALID_WORK_GROUP_SIZE,
                        k.name + " wants teams of " + counted(k.geometry.threads_per_group(), "thread") +
                            "; the device has " + std::to_string(context_->max_group_threads));
  if (emitted_.kernels.empty()) return;
  code_ = context_->code_of(emitted_.text);
  for (const emit_source::EmittedKernel& k : emitted_.kernels) {
    cl_int code = CL_SUCCESS;
    auto kernel = std::make_unique<Kernel>();
    kernel->kernel = OwnedKernel(clCreateKernel(code_->get(), k.name.c_str(), &code));
    check(code, "clCreateKernel");
    kernels_.push_back(std::move(kernel));
  }
  emitted_.text.clear();
  if (!emitted_.checks.empty()) unread_ = std::make_unique<CheckSlot>(context_, emitted_.checks);
}

std::unique_ptr<runtime::CheckRecord> Program::check_record() const {
  return unread_ ? std::make_unique<CheckSlot>(context_, emitted_.checks) : nullptr;
}

CheckSlot::CheckSlot(std::shared_ptr<Context> context, std::vector<lir::CheckAttrs> what)
    : context_(std::move(context)), what_(std::move(what)) {
  cl_int code = CL_SUCCESS;
  record_ = OwnedMemory(clCreateBuffer(context_->context.get(), CL_MEM_READ_WRITE, check_record_bytes, nullptr, &code));
  check(code, "clCreateBuffer");
  clear();
}

void CheckSlot::clear() {
  const cl_ulong none[check_record_bytes / 8] = {};
  check(clEnqueueWriteBuffer(context_->queue.get(), record_.get(), CL_TRUE, 0, sizeof none, none, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

runtime::CheckReport CheckSlot::take() {
  struct {
    std::uint32_t check, padding;
    std::int64_t index;
  } record{};
  static_assert(sizeof record == check_record_bytes);
  check(clEnqueueReadBuffer(context_->queue.get(), record_.get(), CL_TRUE, 0, sizeof record, &record, 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
  if (record.check == 0) return {};
  clear();
  return {what_.at(record.check - 1), record.index};
}

void Program::launch(std::size_t index, std::span<const runtime::KernelBuffer> buffers,
                     runtime::CheckRecord* checks) const {
  if (index >= kernels_.size())
    throw InternalError("launch of kernel " + std::to_string(index) + " of " + std::to_string(kernels_.size()));
  const emit_source::EmittedKernel& emitted = emitted_.kernels[index];
  if (buffers.size() != emitted.buffers)
    throw InternalError(emitted.name + " is given " + std::to_string(buffers.size()) + " buffers, takes " +
                        std::to_string(emitted.buffers));
  if (emitted.geometry.empty()) return;
  std::size_t global[3], local[3];
  for (std::size_t d = 0; d < 3; ++d) {
    local[d] = static_cast<std::size_t>(emitted.geometry.threads[d]);
    global[d] = static_cast<std::size_t>(emitted.geometry.groups[d]) * local[d];
  }
  const Kernel& k = *kernels_[index];
  const std::lock_guard<std::mutex> lock(k.arguments);
  cl_uint argument = 0;
  const auto set = [&](std::size_t bytes, const void* value) {
    check(clSetKernelArg(k.kernel.get(), argument++, bytes, value), "clSetKernelArg");
  };
  for (const runtime::KernelBuffer& b : buffers) {
    const auto memory = static_cast<cl_mem>(b.allocation->handle);
    const auto offset = static_cast<cl_ulong>(b.byte_offset);
    set(sizeof memory, &memory);
    set(sizeof offset, &offset);
  }
  for (const std::int64_t size : emitted.sizes) {
    const auto value = static_cast<cl_long>(size);
    set(sizeof value, &value);
  }
  if (emitted.checks) {
    const cl_mem record = (checks ? static_cast<const CheckSlot*>(checks) : unread_.get())->memory();
    set(sizeof record, &record);
  }
  check(clEnqueueNDRangeKernel(context_->queue.get(), k.kernel.get(), 3, nullptr, global, local, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
}

}  // namespace rlx::oneapi
