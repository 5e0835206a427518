// What a target states, and the records of its kernels. A backend fills these in; the compiler reads them.
#pragma once
#include <rlx/ir/dtype.hpp>
#include <rlx/ir/graph.hpp>
#include <rlx/ir/host_value.hpp>
#include <rlx/ir/op_def.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rlx {

class Builder;
struct Instance;

/// What a backend's own records need to know of its device; each derives its form from it.
struct DeviceFacts {
  virtual ~DeviceFacts() = default;
};

/// What a device takes over from the compiler.
enum class Takes : std::uint8_t {
  steps,   ///< LIR: steps over planned buffers, and kernels.
  nodes,   ///< MIR as it is, which the host references interpret; there is no LIR.
  graphs,  ///< A graph target: subgraphs of MIR, which its records emit and it compiles whole. Refused: no pass cuts
           ///< them.
};

/// Facts of one device that lowering depends on. Part of the cache key. A static target demands no sizes that results
/// introduce (neither way to meet them), no floating-point types in `storage` and `compute`, no heap, or a total.
struct Target {
  std::string device{};         ///< "cpu", "oneapi": the backend's folder.
  std::string description{};    ///< Triple, features, driver and library versions: whatever changes generated code.
  DTypeSet storage = storable;  ///< Element types that buffers may hold.
  DTypeSet compute = numbers | DTypeSet{DType::boolean};  ///< Element types that kernel bodies may compute in.
  Takes takes = Takes::steps;
  // A slab is what a dispatch binds: the arena, or the memory of an input, of an output or of a constant.
  std::int64_t alignment = 64;  ///< Of buffers in a slab, bytes.
  std::int64_t max_slab_bytes = INT64_MAX;
  std::int64_t max_slabs = INT64_MAX;  ///< That one dispatch may bind.
  bool slab_reads_and_writes = true;   ///< Whether one dispatch may read a slab and write to it.
  std::int64_t max_bytes = INT64_MAX;  ///< Of a program: its slabs together.
  bool heap = true;                   ///< False: no memory beside the slabs, such as a record's workspace or resources.
  std::int64_t queues = 1;            ///< On which steps run at the same time.
  std::int64_t max_team_threads = 1;  ///< 1: no team policy.
  std::int64_t local_bytes = 0;       ///< Local memory of a team.
  /// Whether the language of kernel bodies has the element types and the scalar form of a primitive; a no says what it
  /// lacks. Null: it has all of `compute`.
  Answer (*expresses)(const Instance&) = nullptr;
  /// The type in which the primitive `op` is computed on elements of `t`, to be rounded to `t` wherever the program
  /// names a value: `t`, or a wider type, which the report notes. Asked of what no record runs. Null: always `t`.
  DType (*computes_in)(std::string_view op, DType t) = nullptr;
  bool generates_code = true;  ///< False: kernels are not generated, only records run.
  // How a size that a result introduces (SizeRule) may be met. Neither: programs with one are refused.
  bool bounded_sizes = true;  ///< By a buffer of its upper bound and a count.
  bool size_points = true;    ///< By two programs: the host reads the count between them.
  /// For the backend's records only: `description` says all of it that changes code.
  std::shared_ptr<const DeviceFacts> facts{};

  bool interprets() const { return takes == Takes::nodes; }
};

/// One operator instance as dispatch and records see it.
struct Instance {
  const Op* op;
  const AnyAttrs* attrs;
  Signature signature;
  Types results;
  const Target* target;
  bool prologues = false;  ///< LaunchCall::prologues will hold some.
};

/// Memory of one operand or destination of a launch. Sparse operands come as their arrays, in order.
struct BufferView {
  void* data = nullptr;  ///< Address on host-addressable devices, else the handle of the allocation.
  TensorType type;
  std::int64_t byte_offset = 0;  ///< From the handle; already in `data` where that is an address.
};

/// A resource at run time: immutable, shared.
struct ResourceValue {
  ResourceType type;
  std::shared_ptr<const void> data;
};

/// A generated kernel that reads the result of a launch where it writes, run by the launch on elements [begin, end) of
/// that result, whole rows (of its last dimension) that are complete: each row once, in any order, on any thread.
using Epilogue = std::function<void(std::int64_t begin, std::int64_t end)>;

/// A generated kernel that makes an operand of a launch, run by the launch where it reads that operand: writes elements
/// [begin, end), which are of one row (of the last dimension), to their places in an operand that would start at
/// `base`; and with them the rest of the pieces (lir::piece_elements) of the row that they are of. As often as one
/// wants, on any thread.
using Prologue = std::function<void(std::int64_t begin, std::int64_t end, void* base)>;

struct LaunchCall {
  const Instance& instance;
  std::span<const BufferView> in;            ///< Tensor operands and the arrays of sparse ones, in order.
  std::span<const ResourceValue> resources;  ///< Resource operands, in order.
  std::span<const BufferView> out;           ///< Destinations: tensor results and the arrays of sparse ones, in order.
  std::vector<ResourceValue>* made;          ///< A launch appends its resource results.
  BufferView workspace;
  const Epilogue* epilogue = nullptr;  ///< Only for records that state so.
  /// One for each of `in`, or none at all: what makes that operand, which then has no memory; empty where it has.
  std::span<const Prologue> prologues{};
};

/// Runs the operator now, in the order of the queue. May throw NumericalError or DeviceError: never called from a
/// kernel.
using Launch = void (*)(const LaunchCall&);
/// What the records of a graph target add to: its graph, or source. Each such backend derives its form from it.
struct Emission {
  virtual ~Emission() = default;
};
struct EmitCall {
  const Instance& instance;
  std::span<const ValueId> operands, results;  ///< Values of MIR, by which the emission knows its own.
  Emission& into;
};
/// Adds the node to the graph or source of a target that takes graphs.
using Emit = void (*)(const EmitCall&);
/// Replaces the node by primitives and records of the same target.
using Expand = Values (*)(Builder&, const Instance&, ValuesIn operands);

/// One kernel of one device for one operator. The record holds the code, so claim and code cannot disagree.
struct KernelRecord {
  Required<std::string_view> name;  ///< "cpu.lapack_getrf": key in reports and in the text form.
  Required<std::string_view> op;
  Required<std::string_view> provider;  ///< "handwritten" or "library:LAPACK".
  std::vector<DTypeSet>
      dtypes{};  ///< One an operand; the last one serves the rest; empty: whatever the operator takes.
  Answer (*accepts)(const Instance&) = nullptr;  ///< What the dtype sets cannot say; a no states why.
  Required<std::variant<Launch, Emit, Expand>> action;
  /// In which it wants its operands, then in which it leaves its results; null, and what the list does not reach:
  /// row-major. Any other is refused: no pass makes layouts.
  std::vector<std::shared_ptr<const Layout>> layouts{};
  /// Operand and result that may be one memory. A pass that finds the operand's last use there may take it; none does.
  std::vector<std::pair<int, int>> in_place{};
  std::int64_t (*workspace)(const Instance&) = nullptr;  ///< Bytes.
  bool deterministic = true;
  bool narrows = false;  ///< Computes by the `algorithm` of the attributes. Others compute exactly, which reports note.
  /// What of an instance is computed in a wider type than its types and attributes say, for the report: "f32 sums in
  /// f64"; empty: nothing. Null: never anything.
  std::string (*widens)(const Instance&) = nullptr;
  bool synchronises = false;
  bool capturable = false;  ///< The launch may be recorded into a graph of the device's API, and replayed.
  bool epilogue = false;    ///< The launch runs LaunchCall::epilogue, if there is one, on the whole result.
  /// Whether the launch takes an operand from LaunchCall::prologues, each element about once. Null: none.
  Answer (*prologue)(const Instance&, std::size_t operand) = nullptr;
  double (*cost)(const Instance&) =
      nullptr;               ///< Seconds, roughly; chooses among several that accept. Null: first wins.
  std::string_view where{};  ///< Source file, for reports.
};

}  // namespace rlx
