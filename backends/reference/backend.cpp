// The reference device: programs are not compiled to kernels; each primitive runs its host reference.
#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>
#include <rlx/runtime/backend.hpp>

#include <cstring>
#include <new>

namespace rlx::runtime {
namespace {

class ReferenceDevice final : public Device {
 public:
  ReferenceDevice() {
    target_.device = "reference";
    target_.description = "host references";
    target_.generates_code = false;
    target_.takes = Takes::nodes;
    target_.computes_in = [](std::string_view, DType t) {
      return is_complex(t) ? DType::c128 : is_floating(t) ? DType::f64 : t;
    };
  }
  const Target& target() const override { return target_; }
  std::span<const KernelRecord> records() const override { return {}; }
  bool host_addressable() const override { return true; }

  Allocation allocate(std::int64_t bytes) override {
    require_memory("a buffer", static_cast<std::uint64_t>(bytes));
    return {::operator new(static_cast<std::size_t>(bytes), std::align_val_t{64}), bytes};
  }
  void release(const Allocation& a) noexcept override { ::operator delete(a.handle, std::align_val_t{64}); }
  void upload(const Allocation& to, std::int64_t offset, const void* from, std::int64_t bytes) override {
    if (bytes) std::memcpy(static_cast<std::byte*>(to.handle) + offset, from, static_cast<std::size_t>(bytes));
  }
  void download(void* to, const Allocation& from, std::int64_t offset, std::int64_t bytes) override {
    if (bytes) std::memcpy(to, static_cast<const std::byte*>(from.handle) + offset, static_cast<std::size_t>(bytes));
  }
  void copy(const Allocation& to, std::int64_t to_offset, const Allocation& from, std::int64_t from_offset,
            std::int64_t bytes) override {
    std::memmove(static_cast<std::byte*>(to.handle) + to_offset,
                 static_cast<const std::byte*>(from.handle) + from_offset, static_cast<std::size_t>(bytes));
  }
  void synchronize() override {}
  std::unique_ptr<Module> compile(const Graph&) override { throw InternalError("the reference device has no kernels"); }

 private:
  Target target_;
};

Availability available() { return {true, "always there"}; }
std::shared_ptr<Device> open() { return std::make_shared<ReferenceDevice>(); }

}  // namespace

extern const BackendEntry reference_backend{"reference", available, open, "host references of every operator", true};

}  // namespace rlx::runtime
