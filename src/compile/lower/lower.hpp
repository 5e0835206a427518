// MIR to LIR: buffers for the values that fusion stores, kernels and steps for the rest.
#pragma once
#include "compile/lower/elements.hpp"
#include "compile/lower/fusion.hpp"
#include "compile/step_sources.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/compile/lir.hpp>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rlx::compile {

/// A LIR program without memory plan, and what its steps were made from.
struct Lowered {
  Graph program;
  StepSources sources;
};
/// `mir` must outlive the sources. Notes go to the rows of the report.
Lowered lower(const Graph& mir, const Registry& registry, const Target& target, std::span<const KernelRecord> records,
              const CompileOptions& options, DispatchReport& report);

/// The arrays that a sparse value (csr) is split into: offsets, indices, values.
std::vector<TensorType> sparse_parts(const SparseType& s);
/// The type of a buffer that holds a value of type `t`.
TensorType device_type(TensorType t);

/// What a kernel's body is written with.
struct KernelBody {
  Builder& b;
  Elements& elements;
  Coordinates position;  ///< One index for each extent.
  Coordinates thread;    ///< One for each team dimension.
  Values reads;          ///< The body's buffers that are read besides those of MIR values, in order.
  Values writes;         ///< Those of the destinations.

  Value load(ValueId mir_value, const Coordinates& c) { return elements.at(mir_value, c); }
  void store(std::size_t destination, const Index& i, Value v) {
    b.emit("lir.store", {writes[destination], elements.index().emit(i), v});
  }
};

/// A kernel to be made.
struct KernelSpec {
  std::vector<const Node*> origins;  ///< Whose results it makes; the last one names it.
  lir::KernelAttrs attrs{};          ///< But for name and writes.
  std::vector<ValueId> pulled{};     ///< Values that the body may ask for elements of.
  Values reads{}, writes{};          ///< Other buffers that it loads from; those that it stores to.
  std::set<ValueId> computed{};      ///< Worked out in the body even if they have buffers.
  bool flat = false;                 ///< As in FusedKernel.
  bool works = true;                 ///< As in StepSource.
};

class Lowering {
 public:
  Lowering(const Graph& mir, const Registry& registry, const Target& target, std::span<const KernelRecord> records,
           const CompileOptions& options, DispatchReport& report);
  Lowered run();

  const Graph& mir() const { return mir_; }
  std::vector<const Node*> nodes(const std::vector<NodeId>& ids) const;
  Builder& builder() { return b_; }
  const Target& target() const { return target_; }
  std::vector<std::int64_t> shape(ValueId v) const { return constant_shape(mir_.tensor_type(v).shape); }

  /// The buffer of a tensor value; parts of a sparse one by index.
  Value buffer(ValueId v, std::size_t part = 0) const;
  const Values& buffers(ValueId v) const;
  bool has_buffer(ValueId v) const { return buffers_.contains(v); }
  /// Whether fusion wants the value in memory.
  bool is_stored(ValueId v) const { return stored_.contains(v); }
  /// Whether `b` is `of` or a view of it.
  bool is_view_of(Value b, Value of) const;
  void set_buffers(ValueId v, Values buffers) { buffers_[v] = std::move(buffers); }
  /// A new buffer of the value's type, which is then its buffer; an output where the program returns it.
  Value allocate(ValueId v);
  Value allocate_transient(const TensorType& t);
  /// A new buffer for the (single) result of `n`, filled with this operand, which has the result's type.
  Value allocate_copy(const Node& n, ValueId operand);
  /// Stores `v`, which has no buffer, where computing it would read the memory of another value.
  void store_if_reads(const Node& n, ValueId v, ValueId memory);

  void kernel(KernelSpec spec, const std::function<void(KernelBody&)>& body);
  /// One over a range of these extents that makes results of `origin` from elements of `pulled` values.
  void kernel(const Node& origin, std::vector<std::int64_t> extents, const std::vector<ValueId>& pulled, Values writes,
              const std::function<void(KernelBody&)>& body);
  void copy(const Node& origin, Value from, Value to);
  Value view(Value of, const TensorType& t, std::int64_t offset = 0);
  /// Emits the steps of a MIR region, whose arguments stand for these buffers; gives the buffers of its results.
  std::vector<Values> region(RegionId r, const std::vector<Values>& arguments);
  /// Steps emitted from now on belong to this node: its row of the report and its location.
  void set_origin(const Node& n);
  void note(const Node& origin, std::string text);
  /// Says that the step just emitted makes results of `origin`.
  void claim(const Node& origin);

 private:
  void lower_kernel(const FusedKernel& k);
  void lower_loop(const FusedKernel& k);
  void claim(StepSource source);
  void lower_call(const Node& n);
  /// Stored values that computing these reaches.
  std::vector<ValueId> leaves(const std::vector<ValueId>& values, const std::set<ValueId>& computed = {}) const;
  Value as_output(ValueId mir_value, Value v);
  /// Whether a call may run the kernel that computes these values of one shape, which then keeps its dimensions: what
  /// reads a record's result of that shape, by rows; and what makes an operand that a record takes in pieces, by these.
  bool may_join_call(const std::vector<ValueId>& results, const std::vector<std::int64_t>& shape) const;
  const KernelRecord& record_of(const Node& call) const;
  std::string unique_name(std::string_view stem);

  const Graph& mir_;
  const Target& target_;
  std::span<const KernelRecord> records_;
  const CompileOptions& options_;
  DispatchReport& report_;
  Graph lir_;
  StepSources sources_;
  Builder b_;
  std::map<ValueId, Values> buffers_;
  std::set<ValueId> stored_;
  std::set<ValueId> taken_in_pieces_;  ///< Operands of calls whose record runs prologues.
  std::map<std::string, int> names_;
};

}  // namespace rlx::compile
