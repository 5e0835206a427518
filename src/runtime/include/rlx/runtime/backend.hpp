// The interface of a backend: memory, copies, kernels. Loops, calls and the order of steps are the executable's
// business, so a backend with a dialect and a launch function is already whole.
#pragma once
#include <rlx/compile/lir.hpp>
#include <rlx/compile/target.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rlx::runtime {

/// Whether a device is there, and where it was looked for.
struct Availability {
  bool available = false;
  std::string looked_for;  ///< "OpenCL platforms: 1 found (Portable Computing Language)", or why there is none.
};

/// Device memory. `handle` is what kernels are given; on host-addressable devices it is the address.
struct Allocation {
  void* handle = nullptr;
  std::int64_t bytes = 0;
};

/// A buffer given to a kernel: an allocation and where in it the buffer starts.
struct KernelBuffer {
  const Allocation* allocation = nullptr;
  std::int64_t byte_offset = 0;
};

/// First index that a checked kernel refused, and what its lir.check says.
struct CheckReport {
  lir::CheckAttrs what{};
  std::int64_t index = 0;
  bool refused() const { return !what.kind.empty(); }  ///< False while there is none.
};

/// Where the checked kernels of one call leave the first index that they refuse. Each call has its own, so checked
/// calls run at once like others.
class CheckRecord {
 public:
  virtual ~CheckRecord() = default;
  /// Takes what launches that were waited for have left.
  virtual CheckReport take() = 0;
};

/// The compiled kernels of one program, immutable: launches from several threads at once are allowed.
class Module {
 public:
  virtual ~Module() = default;
  /// Enqueues kernel `index` (in the program's order of lir.kernel nodes) on these buffers. Without a record, which
  /// must be one of this module's, refused indices go unnoticed.
  virtual void launch(std::size_t index, std::span<const KernelBuffer> buffers,
                      CheckRecord* checks = nullptr) const = 0;
  /// An empty record; null where no kernel checks anything.
  virtual std::unique_ptr<CheckRecord> check_record() const { return nullptr; }
  /// The same for modules that run the same code, each at the sizes of its own program; null where unknown.
  virtual const void* code() const { return nullptr; }
  /// Runs rows [begin, end) of a kernel under mdrange on the calling thread, a row being a position of all its
  /// dimensions but the last. For devices whose records state an epilogue.
  virtual void launch_rows(std::size_t index, std::span<const KernelBuffer> buffers, std::int64_t begin,
                           std::int64_t end) const {
    (void)index, (void)buffers, (void)begin, (void)end;
    throw InternalError("a record states an epilogue on a device that runs no kernel by rows");
  }
  /// Runs a kernel that writes a piecewise buffer, on the calling thread, for elements [begin, end) of one row and what
  /// is of their pieces (lir::piece_elements); `buffers` are those that it reads, and element 0 of what it writes would
  /// be at `base`. For devices whose records state prologues.
  virtual void launch_piece(std::size_t index, std::span<const KernelBuffer> buffers, std::int64_t begin,
                            std::int64_t end, void* base) const {
    (void)index, (void)buffers, (void)begin, (void)end, (void)base;
    throw InternalError("a record states prologues on a device that runs no kernel in pieces");
  }
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const Target& target() const = 0;
  virtual std::span<const KernelRecord> records() const = 0;
  /// Whether Allocation::handle is an address that host code (launch records) may read and write.
  virtual bool host_addressable() const = 0;

  /// Throws MemoryError when there is not enough.
  virtual Allocation allocate(std::int64_t bytes) = 0;
  virtual void release(const Allocation& a) noexcept = 0;
  /// Copies in queue order; upload and download return when the host memory may be reused or read.
  virtual void upload(const Allocation& to, std::int64_t offset, const void* from, std::int64_t bytes) = 0;
  virtual void download(void* to, const Allocation& from, std::int64_t offset, std::int64_t bytes) = 0;
  virtual void copy(const Allocation& to, std::int64_t to_offset, const Allocation& from, std::int64_t from_offset,
                    std::int64_t bytes) = 0;
  /// Waits for all that was enqueued; throws DeviceError for what failed meanwhile.
  virtual void synchronize() = 0;
  /// Compiles every lir.kernel of a planned LIR program. Throws DeviceError with the compiler's log.
  virtual std::unique_ptr<Module> compile(const Graph& lir) = 0;
  /// Whether kernels run: otherwise they are compiled and checked, and what is read back is zero.
  virtual bool computes() const { return true; }
};

/// One entry a backend; the generated list of backends holds them in order.
struct BackendEntry {
  std::string_view name;
  Availability (*availability)();
  /// Throws DeviceError when it is not available.
  std::shared_ptr<Device> (*open)();
  std::string_view proves;  ///< What executes it and what that proves: a line of `rlx devices`.
  bool for_tests = false;   ///< Used by who names it: never the default beside another that is available.
};

}  // namespace rlx::runtime
