// LIR: steps over planned buffers, and kernels whose bodies are regions of scalar operators.
//
// A *program* is a graph whose values are buffers (tensor types with a space). Its nodes, in order, are steps:
// lir.buffer, lir.view, lir.kernel, lir.call, lir.copy, lir.while, lir.if, lir.start, lir.done. A *kernel body* holds,
// on rank-0 tensors, the elementwise primitives (add, exp, select, ...), `constant`, and lir.load, lir.store, lir.for,
// lir.reduce, lir.if_then, lir.size, lir.local, lir.barrier. Indices are i64 and count elements from the start of a
// buffer, whatever its shape.
#pragma once
#include <rlx/ir/attributes.hpp>
#include <rlx/ir/graph.hpp>
#include <rlx/ir/registry.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::lir {

/// How a kernel's index space is executed; Kokkos' words. range and mdrange: every point of `extents` runs the body
/// once, in any order, at the same time. team: `extents` counts the teams and `team` the threads of one; they share
/// lir.local memory and meet at lir.barrier.
enum class Policy { range, mdrange, team };
inline std::span<const std::string_view> enum_names(Policy) {
  static constexpr std::string_view names[] = {"range", "mdrange", "team"};
  return names;
}

/// lir.kernel(buffers...) (region(indices..., buffers...)): one index argument (i64[]) for each extent, then, under the
/// team policy, one for each team dimension, then the buffers. No results; the region returns nothing. The first extent
/// is an argument of launches, as lir.size is: code does not depend on it but for what suits few points.
struct KernelAttrs {
  std::string name{};  ///< Unique in the program; a C identifier.
  Policy policy = Policy::range;
  std::vector<std::int64_t> extents{};  ///< Outermost first; the last one is contiguous in what the kernel writes.
  std::vector<std::int64_t> team{};
  int writes = 1;  ///< How many buffers, at the end of the list, the body stores to.
  bool operator==(const KernelAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"name", &KernelAttrs::name, "symbol of the kernel"},
                 Field{"policy", &KernelAttrs::policy, "range, mdrange or team"},
                 Field{"extents", &KernelAttrs::extents, "points of each dimension, or teams under the team policy"},
                 Field{"team", &KernelAttrs::team, "threads of a team in each dimension"},
                 Field{"writes", &KernelAttrs::writes, "buffers at the end of the list that are stored to"}};
};

/// Lifetime class of a buffer that the program makes. Transients live in the arena at `offset`; constants hold `value`;
/// outputs are allocated for each call and handed to the caller. Inputs are the arguments of the program. A piecewise
/// buffer is never whole: the kernel that writes it is a prologue of the call that reads it.
enum class Lifetime { transient, constant, output, piecewise };
inline std::span<const std::string_view> enum_names(Lifetime) {
  static constexpr std::string_view names[] = {"transient", "constant", "output", "piecewise"};
  return names;
}
/// What is made of a piecewise buffer at a time: so many elements of a row (of its last dimension), or the row's last.
constexpr std::int64_t piece_elements = 128;

/// lir.buffer() -> buffer.
struct BufferAttrs {
  Type type = TensorType{};  ///< With a space other than `value`.
  Lifetime lifetime = Lifetime::transient;
  std::int64_t slab = 0, offset = -1;  ///< Bytes into the slab; -1 until the memory plan has run.
  HostTensor value{};                  ///< For constants.
  bool operator==(const BufferAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"type", &BufferAttrs::type, "type of the buffer"},
                 Field{"lifetime", &BufferAttrs::lifetime, "transient, constant or output"},
                 Field{"slab", &BufferAttrs::slab, "slab of the arena"},
                 Field{"offset", &BufferAttrs::offset, "byte offset in the slab, -1: not planned"},
                 Field{"value", &BufferAttrs::value, "contents of a constant"}};
};

/// lir.view(buffer) -> buffer: the same memory from element `offset` on, under another type.
struct ViewAttrs {
  Type type = TensorType{};
  std::int64_t offset = 0;
  bool operator==(const ViewAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"type", &ViewAttrs::type, "type of the view"},
                                            Field{"offset", &ViewAttrs::offset, "elements from the start"}};
};

/// lir.call(operands..., destinations...) -> resources: a record's launch. Sparse values come as their arrays.
struct CallAttrs {
  std::string record{};  ///< Name of the kernel record.
  std::string op{};      ///< The operator it executes, with its attributes as text.
  std::string attributes{};
  int operands = 0;                       ///< How many of the values are operands; the rest are destination buffers.
  Types operand_types{}, result_types{};  ///< Of the operator, before sparse values were split.
  Types resources{};                      ///< Types of the resource results, in order.
  /// Kernels just before, in their order, that the call runs to make pieces of its operands as it reads them.
  std::vector<std::string> prologues{};
  std::string epilogue{};  ///< Kernel that follows and that the call runs, on parts of its result that are complete.
  bool operator==(const CallAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"record", &CallAttrs::record, "name of the kernel record"},
                 Field{"op", &CallAttrs::op, "operator"},
                 Field{"attributes", &CallAttrs::attributes, "its attributes as text"},
                 Field{"operands", &CallAttrs::operands, "count of operands; destinations follow"},
                 Field{"operand_types", &CallAttrs::operand_types, "operand types of the operator"},
                 Field{"result_types", &CallAttrs::result_types, "result types of the operator"},
                 Field{"resources", &CallAttrs::resources, "types of resource results"},
                 Field{"prologues", &CallAttrs::prologues, "names of the kernels before it that it runs"},
                 Field{"epilogue", &CallAttrs::epilogue, "name of the kernel that follows and that it runs"}};
};

/// What reports call the step: the record, and the kernels that it runs before and after.
RLX_API std::string step_name(const CallAttrs& a);
/// That of any step: a kernel's or call's own, else its kind.
RLX_API std::string step_name(const Node& step);
/// "kernel", "call", "copy", "while", "if".
RLX_API std::string step_kind(const Node& step);

/// lir.while() (region condition, region body): both regions capture the buffers of the program. The body updates the
/// state in place. The condition's region returns one bool[] buffer, which the host reads after its steps have run,
/// before each trip: a trip too many would change the state. Where the number of trips is known nothing is read: the
/// condition's region is empty.
struct LoopAttrs {
  std::int64_t max_trips = -1;  ///< One trip more is a NumericalError; -1: no bound.
  std::int64_t trips = -1;      ///< How many there are; -1: as long as the condition holds.
  bool operator==(const LoopAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"max_trips", &LoopAttrs::max_trips, "upper bound of the trip count, -1: none"},
                 Field{"trips", &LoopAttrs::trips, "the trip count, -1: as long as the condition holds"}};
};

/// lir.if(predicate buffer) (region then, region else): steps.

/// lir.start() (region steps) -> token, and lir.done(token) later in the same region. The steps run on a queue of their
/// own, in their order: after what stands before the start, at the same time as what stands between the two, and before
/// what follows the done. Steps outside of any are on queue 0, and no lowering makes others: every device here has one.
struct StartAttrs {
  std::int64_t queue = 1;
  bool operator==(const StartAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"queue", &StartAttrs::queue, "from 1 on"}};
};

/// lir.for(lower, upper, carried...) (region(i, carried...)): i runs from lower (inclusive) to upper (exclusive);
/// results are the carried values after the last trip.
struct ForAttrs {
  std::int64_t step = 1;
  bool independent = false;  ///< Trips may run at the same time (no carried values): vector lanes may be used.
  bool operator==(const ForAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"step", &ForAttrs::step, "increment, positive"},
                 Field{"independent", &ForAttrs::independent, "trips may run at the same time"}};
};

// lir.reduce(lower, upper, identities...) (region term(i) -> values, region combine(a..., b...) -> values): the
// combination of all terms with the identities, in an order that the emitter fixes independently of the number of
// threads. The identities must be neutral, since an emitter may use them once a lane.

/// lir.size() -> i64[]: a number that is no part of the kernel's code. It is handed over at each launch, as the first
/// extent is, so that programs which differ in these alone run the same code.
struct SizeAttrs {
  std::int64_t value = 0;
  bool operator==(const SizeAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"value", &SizeAttrs::value, "what launches hand over, not negative"}};
};

/// lir.local() -> buffer in Space::local, one a team, uninitialised.
struct LocalAttrs {
  Type type = TensorType{};
  bool operator==(const LocalAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"type", &LocalAttrs::type, "type of the buffer, space local"}};
};

/// lir.check(condition bool[], index i64[]) in a body: in checked mode a false condition records the first offending
/// index. What is said of it is no part of the kernel's code: kernels know no names and no lines, the row of the report
/// does.
struct CheckAttrs {
  std::string kind{};      ///< "gather index", as the error says it.
  int row = -1;            ///< Of the report, counted from 0: what the user wrote; -1: none.
  std::string expected{};  ///< "0 to 3"; empty: not known.
  std::string of{};        ///< The operator whose NumericalError it is; empty: an index, an ArgumentError.
  bool operator==(const CheckAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"kind", &CheckAttrs::kind, "what is out of range"},
                 Field{"row", &CheckAttrs::row, "row of the report, from 0; -1: none"},
                 Field{"expected", &CheckAttrs::expected, "what an error says was expected; empty: not known"},
                 Field{"of", &CheckAttrs::of, "operator whose NumericalError it is; empty: an index"}};
};

/// The lir.kernel nodes of a program in the order of its text, those inside loops and branches where the step stands. A
/// kernel's place in this list is its index everywhere.
RLX_API std::vector<NodeId> kernels(const Graph& program);
/// The lir.size nodes of a kernel's body in the order of its text, in which launches hand their values over.
RLX_API std::vector<NodeId> sizes(const Graph& program, const Node& kernel);
/// Its lir.check nodes in that order: what code reports is a check's place among them.
RLX_API std::vector<NodeId> checks(const Graph& program, const Node& kernel);
/// Whether a step is a kernel that writes a piecewise buffer, which the call after it runs.
RLX_API bool is_prologue(const Graph& program, const Node& step);

/// Adds the lir.* operators.
RLX_API void register_ops(Registry& registry);

}  // namespace rlx::lir
