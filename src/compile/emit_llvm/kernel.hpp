// Emission of one kernel's function. Each SSA value of the body is one Val; how many lanes it has depends on where it
// is used: outside of vector ranges everything is scalar, inside uniform values stay scalar and are splat on use.
#pragma once
#include "compile/emit_llvm/ir.hpp"
#include "compile/emit_llvm/lane_forms.hpp"
#include "compile/emit_llvm/plan.hpp"
#include "compile/emit_llvm/prefetch.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace rlx::emit_llvm {

/// Registers hold f16 and bf16 as float, already rounded; f8 as its code in i8; i4 as i8; bool as i1; complex as two
/// values.
struct Val {
  DType dtype = DType::f32;
  V re, im{};                 ///< `im` of complex values only.
  std::int64_t stride = 0;    ///< Not 0: an i64 whose lane l is re + l * stride, re being scalar.
  bool non_negative = false;  ///< Known of some i64: division is cheaper.
  /// Set on a product that has no other use: its sum may be contracted to fma. Contraction is decided here, by the
  /// graph, and not by LLVM, so that every lane count and instruction level gives the same bits.
  V factor_a{}, factor_b{};
};

struct KernelBufferRef {
  V address;
  DType dtype = DType::f32;
  std::size_t index = 0;
};

class Kernel {
 public:
  Kernel(Ir& ir, const Graph& g, const KernelPlan& plan, const Machine& machine);
  void emit();

 private:
  // --- kernel.cpp: frame, regions, dispatch.
  std::vector<Val> region(RegionId r, std::span<const Val> arguments);
  void node(NodeId id, const Node& n);
  Val constant(const Node& n);
  const Val& value(ValueId v) const { return values_.at(v); }
  void define(ValueId v, Val x) { values_[v] = std::move(x); }
  void count_uses(RegionId r);
  /// Runs `body` over the positions of one unit.
  void unit(V unit, const Region& body);
  V size(SizeIndex i) const { return sizes_[static_cast<std::size_t>(i)]; }
  int uses(ValueId v) const {
    const auto it = uses_.find(v);
    return it == uses_.end() ? 0 : it->second;
  }
  /// body(index) over [low, high): vectors of `lanes`, then one masked vector for what is left. `turns` vectors a trip
  /// where the count is known to be a multiple of that.
  void vector_range(V low, V high, int lanes, std::int64_t known_count, const std::function<void(const Val&)>& body,
                    int turns = 1);
  /// Lanes i with from + i < to.
  V lanes_below(V from, V to) const;
  V all_lanes() const { return ir_.integer(Ir::widen(ir_.i1, lanes_), 1); }
  V mask_or_all() const { return mask_ ? mask_ : all_lanes(); }

  // --- Widths.
  bool is_scalar(const Val& x) const { return x.stride == 0 && Ir::lanes(x.re.type()) == 1; }
  /// As a value of the current lanes: splat if uniform, spelled out if linear.
  V wide(const Val& x) const;
  Val widened(Val x) const;
  /// Brings all operands to scalars if all are, else to the current lanes. True if wide.
  bool match(std::span<Val> xs) const;
  static Val index(V scalar) { return {DType::i64, scalar}; }

  // --- memory.cpp
  void load(NodeId id, const Node& n);
  void store(NodeId id, const Node& n);
  /// Asks for the lines that the access will want later, where it is one that does (prefetches_).
  void prefetch(NodeId access, const KernelBufferRef& b, const Val& index, bool write);
  Val load_element(const KernelBufferRef& b, const Val& index);
  void store_element(const KernelBufferRef& b, const Val& index, const Val& x);
  V load_plain(const KernelBufferRef& b, LLVMTypeRef element, const Val& index);
  void store_plain(const KernelBufferRef& b, const Val& index, V x);
  V load_pair(const KernelBufferRef& b, LLVMTypeRef element, const Val& index, V& imaginary);
  V address(const KernelBufferRef& b, LLVMTypeRef element, V index) const;
  V tagged(V access, const KernelBufferRef& b) const;
  void make_scopes();

  // --- loops.cpp
  /// A loop that carries values: body(i, carried) gives the next ones. Those marked `varying` have all lanes.
  using LoopBody = std::function<std::vector<Val>(V i, std::span<const Val> carried)>;
  std::vector<Val> carried_loop(V from, V to, std::int64_t step, std::vector<Val> carried, const LoopBody& body);
  /// The same where each lane has bounds of its own: a lane that has finished keeps its values.
  std::vector<Val> ragged_loop(V from, V to, std::int64_t step, std::vector<Val> carried, const LoopBody& body);
  void for_loop(NodeId id, const Node& n);
  void reduce(NodeId id, const Node& n);
  std::vector<Val> term_after_term(const Node& n);
  std::vector<Val> vector_reduce(const Node& n, int lanes);
  /// Of a segment whose entries are loaded one by one: a sum, or several where it is long.
  std::vector<Val> segment_reduce(const Node& n);
  /// Of segments, what of the following ones is asked for.
  std::int64_t elements_ahead() const { return std::max<std::int64_t>(512, machine_.bytes_ahead / 8); }
  /// Asks for what lies ahead of the segment that begins at `from`, once for all of its terms.
  void ask_ahead(RegionId terms, V from);
  std::vector<Val> combine(const Node& n, std::span<const Val> a, std::span<const Val> b);
  /// Scalar where the forms say so, else all lanes.
  Val carried_form(const Val& x, ValueId argument) const;

  // --- branches.cpp
  void if_then(const Node& n);
  bool is_cheap(RegionId r, double& cost) const;
  Val merge(V condition, const Val& yes, const Val& no) const;
  void check(NodeId id, const Node& n);
  Val phi_like(const Val& x);

  // --- linear i64 arithmetic; false if the operands are not of that kind.
  bool index_arithmetic(const Node& n, std::string_view op, std::span<const Val> in, Val& out);
  /// min(max(x, 0), limit) as a branch that indices in range do not take; false if the node is no such clamp.
  bool clamped_index(const Node& n, std::span<const Val> in, Val& out);

  Ir& ir_;
  const Graph& g_;
  const KernelPlan& plan_;
  const Machine& machine_;
  std::unordered_map<ValueId, Val> values_;
  std::unordered_map<ValueId, KernelBufferRef> buffers_;
  std::unordered_map<ValueId, int> uses_;
  std::int64_t ahead_ = 0;  ///< Not 0: loads of runs prefetch what lies so many elements ahead.
  int lanes_ = 1;
  int turn_ = 0;     ///< Of the vectors that a trip of the innermost loop has side by side.
  V mask_{};         ///< <lanes x i1>, absent: all. Inside a masked region at least one lane is active.
  LaneForms forms_;  ///< Of the vector range under construction.
  std::unordered_map<NodeId, Prefetch> prefetches_;
  V check_, point_;                              ///< CheckState*; flattened position, for the order of refusals.
  std::vector<V> sizes_;                         ///< KernelPlan::sizes, as this launch has them.
  std::unordered_map<NodeId, V> sizes_of_body_;  ///< Of the lir.size nodes.
  std::unordered_map<NodeId, std::int64_t> checks_of_body_;  ///< Places of the lir.check nodes.
  std::vector<LLVMValueRef> scopes_, others_;                ///< Metadata of accesses to each buffer.
};

/// What `phi` is where control comes from that block.
void incoming(const Val& phi, const Val& x, LLVMBasicBlockRef from);

}  // namespace rlx::emit_llvm
