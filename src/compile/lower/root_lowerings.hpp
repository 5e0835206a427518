// Lowerings of the operators whose results need buffers of their own, one file each, and how each uses its operands.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/op.hpp>

#include <span>
#include <string_view>

namespace rlx::compile {

class Lowering;
struct FusedKernel;

enum class OperandUse : std::uint8_t {
  pulled,          ///< Each element is asked for about once: its producer may be computed in place.
  pulled_if_free,  ///< Elements are asked for many times: only changes of position are made in place.
  buffer,          ///< Must be in memory.
};

struct RootLowering {
  std::string_view op;
  void (*lower)(Lowering&, const Node&);
  OperandUse use;
};
/// Null where the operator has no generated lowering.
const RootLowering* root_lowering(const Op& op);
/// How `user` (not of inlined kind) uses its operands: a call, or an operator without lowering, wants buffers.
OperandUse operand_use(const Node& user);

/// A kernel with reductions (FusedKernel::space).
void lower_rows(Lowering& l, const FusedKernel& k);
void lower_associative_scan(Lowering& l, const Node& n);
void lower_arg_reduce(Lowering& l, const Node& n);
void lower_reduce_window(Lowering& l, const Node& n);
void lower_dot_general(Lowering& l, const Node& n);
/// dot_general in local memory by teams, into `result`; false where the target or the shape is not for it.
bool lower_tiled_dot_general(Lowering& l, const Node& n, DType accumulate, Value result);
void lower_dynamic_update_slice(Lowering& l, const Node& n);
void lower_conv(Lowering& l, const Node& n);
void lower_scatter(Lowering& l, const Node& n);
void lower_while(Lowering& l, const Node& n);
void lower_if(Lowering& l, const Node& n);
void lower_check_within(Lowering& l, const Node& n);
void lower_barrier(Lowering& l, const Node& n);
void lower_sparse_parts(Lowering& l, const Node& n);
void lower_sparse_assemble(Lowering& l, const Node& n);

}  // namespace rlx::compile
