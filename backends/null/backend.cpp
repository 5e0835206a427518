// The null device: plans are made and checked, nothing runs.
#include <rlx/compile/lir.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/runtime/backend.hpp>

#include <cstring>
#include <memory>

namespace rlx::runtime {
namespace {

// Checks what any device would rely on: the buffers of a launch are inside their allocations.
class NullModule final : public Module {
 public:
  explicit NullModule(const Graph& lir) {
    for (NodeId id : lir::kernels(lir)) {
      std::vector<std::int64_t> sizes;
      for (ValueId v : lir.node(id).operands)
        sizes.push_back(byte_size(lir.tensor_type(v).dtype, lir.tensor_type(v).numel().constant()));
      sizes_.push_back(std::move(sizes));
    }
  }
  void launch(std::size_t index, std::span<const KernelBuffer> buffers, CheckRecord*) const override {
    const auto& sizes = sizes_.at(index);
    if (sizes.size() != buffers.size())
      throw InternalError("null: kernel " + std::to_string(index) + " got " + std::to_string(buffers.size()) +
                          " buffers");
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (buffers[i].byte_offset < 0 ||
          buffers[i].byte_offset + sizes[i] > std::max<std::int64_t>(buffers[i].allocation->bytes, 1))
        throw InternalError("null: buffer " + std::to_string(i) + " of kernel " + std::to_string(index) +
                            " ends outside its allocation");
  }

 private:
  std::vector<std::vector<std::int64_t>> sizes_;
};

// Allocations have a size and no memory; what is read back is zero, so every loop ends at its first question.
class NullDevice final : public Device {
 public:
  NullDevice() {
    target_.device = "null";
    target_.description = "nothing";
    target_.compute = storable;
  }
  const Target& target() const override { return target_; }
  std::span<const KernelRecord> records() const override { return {}; }
  bool host_addressable() const override { return false; }
  Allocation allocate(std::int64_t bytes) override { return {nullptr, bytes}; }
  void release(const Allocation&) noexcept override {}
  void upload(const Allocation&, std::int64_t, const void*, std::int64_t) override {}
  void download(void* to, const Allocation&, std::int64_t, std::int64_t bytes) override {
    if (bytes) std::memset(to, 0, static_cast<std::size_t>(bytes));
  }
  void copy(const Allocation&, std::int64_t, const Allocation&, std::int64_t, std::int64_t) override {}
  void synchronize() override {}
  std::unique_ptr<Module> compile(const Graph& lir) override { return std::make_unique<NullModule>(lir); }
  bool computes() const override { return false; }

 private:
  Target target_;
};

Availability available() { return {true, "always there"}; }
std::shared_ptr<Device> open() { return std::make_shared<NullDevice>(); }

}  // namespace

extern const BackendEntry null_backend{"null", available, open, "nothing runs; plans are checked", true};

}  // namespace rlx::runtime
