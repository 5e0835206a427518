// Devices, memory, compilation and launches on the host. Everything is synchronous: a launch has finished when it
// returns.
#include "computes_in.hpp"
#include "cpu_device.hpp"
#include "jit.hpp"
#include "kernels.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "runtime/in_use.hpp"
#include "thread_pool.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/error.hpp>

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include <dlfcn.h>
#include <sys/stat.h>

namespace rlx::cpu {
namespace {

using runtime::Allocation;
using runtime::CheckReport;
using runtime::KernelBuffer;

/// The first refusal, in the order of launches and then of points.
class Refusals final : public runtime::CheckRecord {
 public:
  void add(const CheckReport& r) {
    if (!first_.refused()) first_ = r;
  }
  CheckReport take() override { return std::exchange(first_, {}); }

 private:
  CheckReport first_;
};

/// Of one launch: threads report in any order, the lowest point counts.
struct LaunchCheck : emit_llvm::CheckState {
  explicit LaunchCheck(const emit_llvm::KernelInfo& k) : kernel(k) {
    fail = [](emit_llvm::CheckState* state, std::int64_t check, std::int64_t index, std::int64_t point) {
      auto& self = *static_cast<LaunchCheck*>(state);
      const std::lock_guard lock(self.mutex);
      if (self.report.refused() && self.point <= point) return;
      self.report = {self.kernel.checks.at(static_cast<std::size_t>(check)), index};
      self.point = point;
    };
  }
  const emit_llvm::KernelInfo& kernel;
  std::mutex mutex;
  CheckReport report;
  std::int64_t point = 0;
};

/// What a kernel gets: the buffers' addresses, without an allocation where they are few.
class Addresses {
 public:
  /// `last` follows them where it is given.
  explicit Addresses(std::span<const KernelBuffer> buffers, void* last = nullptr) {
    if (buffers.size() >= few_.size()) many_.resize(buffers.size() + 1);
    void** const to = many_.empty() ? few_.data() : many_.data();
    for (std::size_t i = 0; i < buffers.size(); ++i)
      to[i] = static_cast<std::byte*>(buffers[i].allocation->handle) + buffers[i].byte_offset;
    if (last) to[buffers.size()] = last;
  }
  void* const* data() const { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<void*, 32> few_;
  std::vector<void*> many_;
};

class CpuModule final : public runtime::Module {
 public:
  /// `code` of these kernels, shared by all programs which differ only in what launches hand over; absent where there
  /// are none.
  CpuModule(std::vector<emit_llvm::KernelInfo> kernels, std::shared_ptr<const LoadedCode> code, int threads)
      : kernels_(std::move(kernels)), code_(std::move(code)), threads_(threads) {}

  void launch(std::size_t index, std::span<const KernelBuffer> buffers, runtime::CheckRecord* checks) const override {
    const emit_llvm::KernelInfo& k = kernels_.at(index);
    const Addresses addresses(buffers);
    LaunchCheck check(k);
    struct Launch {
      emit_llvm::KernelFunction function;
      void* const* buffers;
      emit_llvm::CheckState* check;
      const std::int64_t* sizes;
    };
    Launch launch{function(index), addresses.data(), &check, k.sizes.data()};
    parallel_for(
        k.extent, k.grain, threads_,
        [](void* context, std::int64_t begin, std::int64_t end) {
          const auto& l = *static_cast<const Launch*>(context);
          l.function(l.buffers, begin, end, l.check, l.sizes);
        },
        &launch);
    if (checks && check.report.refused()) static_cast<Refusals*>(checks)->add(check.report);
  }
  std::unique_ptr<runtime::CheckRecord> check_record() const override { return std::make_unique<Refusals>(); }
  void launch_rows(std::size_t index, std::span<const KernelBuffer> buffers, std::int64_t begin,
                   std::int64_t end) const override {
    const std::int64_t units = units_of_row(index);
    run(index, Addresses(buffers), begin * units, end * units);
  }
  void launch_piece(std::size_t index, std::span<const KernelBuffer> buffers, std::int64_t begin, std::int64_t end,
                    void* base) const override {
    constexpr std::int64_t piece = lir::piece_elements;
    const std::int64_t units = units_of_row(index), length = kernels_.at(index).last, row = begin / length,
                       first = row * length;
    run(index, Addresses(buffers, base), row * units + (begin - first) / piece,
        row * units + (end - first + piece - 1) / piece);
  }
  const void* code() const override { return code_.get(); }

 private:
  std::int64_t units_of_row(std::size_t index) const {
    const emit_llvm::KernelInfo& k = kernels_.at(index);
    if (!k.rows) throw InternalError("kernel " + k.name + " does not run by rows");
    return k.extent / k.rows;
  }
  /// On this thread; for kernels that check nothing.
  void run(std::size_t index, const Addresses& addresses, std::int64_t begin, std::int64_t end) const {
    LaunchCheck check(kernels_.at(index));
    function(index)(addresses.data(), begin, end, &check, kernels_.at(index).sizes.data());
  }
  emit_llvm::KernelFunction function(std::size_t index) const {
    return reinterpret_cast<emit_llvm::KernelFunction>(code_->function(index));
  }

  std::vector<emit_llvm::KernelInfo> kernels_;
  std::shared_ptr<const LoadedCode> code_;
  int threads_;
};

/// Tells builds of this library apart: cached code of another build is another key.
std::string build_stamp() {
  Dl_info info{};
  struct stat s{};
  if (!::dladdr(reinterpret_cast<void*>(&build_stamp), &info) || !info.dli_fname || ::stat(info.dli_fname, &s))
    return "unknown";
  return std::to_string(s.st_size) + "." + std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec);
}

class HostDevice final : public CpuDevice {
 public:
  explicit HostDevice(const Options& o)
      : machine_(emit_llvm::host_machine(o.isa ? *o.isa : isa_from_environment())),
        cache_(o.cache ? *o.cache : runtime::DiskCache::options_from_environment()),
        threads_(o.threads),
        stamp_(build_stamp()) {
    if (o.slow_gathers) machine_.slow_gathers = *o.slow_gathers;
    if (!threads_) default_threads();  // a wrong RLX_THREADS is refused here and not in a launch
    target_.device = "cpu";
    target_.description = machine_.description();
    target_.compute = storable;
    target_.computes_in = computes_in;
    target_.facts = std::make_shared<CpuFacts>(machine_);
  }

  const Target& target() const override { return target_; }
  std::span<const KernelRecord> records() const override { return kernel_records(); }
  bool host_addressable() const override { return true; }
  Allocation allocate(std::int64_t bytes) override { return {cpu::allocate(bytes), bytes}; }
  void release(const Allocation& a) noexcept override { cpu::release(a.handle); }
  void upload(const Allocation& to, std::int64_t offset, const void* from, std::int64_t bytes) override {
    if (bytes) std::memcpy(static_cast<std::byte*>(to.handle) + offset, from, static_cast<std::size_t>(bytes));
  }
  void download(void* to, const Allocation& from, std::int64_t offset, std::int64_t bytes) override {
    if (bytes) std::memcpy(to, static_cast<const std::byte*>(from.handle) + offset, static_cast<std::size_t>(bytes));
  }
  void copy(const Allocation& to, std::int64_t to_offset, const Allocation& from, std::int64_t from_offset,
            std::int64_t bytes) override {
    if (!bytes) return;
    std::memmove(static_cast<std::byte*>(to.handle) + to_offset,
                 static_cast<const std::byte*>(from.handle) + from_offset, static_cast<std::size_t>(bytes));
  }
  void synchronize() override {}

  std::unique_ptr<runtime::Module> compile(const Graph& lir) override {
    const emit_llvm::ProgramPlan plan(lir, machine_);
    std::vector<emit_llvm::KernelInfo> kernels = emit_llvm::kernel_infos(plan);
    if (kernels.empty()) return std::make_unique<CpuModule>(std::move(kernels), nullptr, threads_);
    const std::string key = "cpu " + stamp_ + " " + machine_.description() + "\n" + emit_llvm::kernel_text(plan);
    std::shared_ptr<const LoadedCode> code = codes_.get(key, [&] {
      std::vector<std::string> names;
      for (const emit_llvm::KernelInfo& k : kernels) names.push_back(k.name);
      return made(key, plan, names);
    });
    return std::make_unique<CpuModule>(std::move(kernels), std::move(code), threads_);
  }

  const emit_llvm::Machine& machine() const override { return machine_; }
  runtime::DiskCache& cache() override { return cache_; }

 private:
  // From the disk, or by the compiler.
  std::unique_ptr<LoadedCode> made(const std::string& key, const emit_llvm::ProgramPlan& plan,
                                   std::span<const std::string> names) {
    if (const auto known = cache_.get(key)) {
      try {
        return load(*known, names);
      } catch (const DeviceError&) {
        // whole, but not what the linker takes: made again below
      }
    }
    const std::vector<std::byte> object = emit_llvm::emit_object(plan);
    cache_.put(key, object);
    return load(object, names);
  }

  static emit_llvm::Isa isa_from_environment() {
    const char* pinned = std::getenv("RLX_ISA");
    if (!pinned || !*pinned) return emit_llvm::best_host_isa();
    try {
      return emit_llvm::parse_isa(pinned);
    } catch (const ArgumentError& e) { throw ArgumentError(std::string("RLX_ISA: ") + e.what()); }
  }
  emit_llvm::Machine machine_;
  runtime::DiskCache cache_;
  int threads_;
  std::string stamp_;
  Target target_;
  runtime::InUse<LoadedCode> codes_;  // By key.
};

runtime::Availability availability() {
  return {true, "host processor, instruction level " + std::string(name(emit_llvm::best_host_isa()))};
}
std::shared_ptr<runtime::Device> open() { return open_device(); }

}  // namespace

std::shared_ptr<CpuDevice> open_device(Options options) { return std::make_shared<HostDevice>(options); }

}  // namespace rlx::cpu

namespace rlx::runtime {
extern constinit const BackendEntry cpu_backend{"cpu", cpu::availability, cpu::open,
                                                "executed by the host processor through LLVM's JIT"};
}  // namespace rlx::runtime
