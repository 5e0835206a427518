// What the collectives share. Operands are x, communicator, token; results y, token.
#pragma once
#include <rlx/ops/comm.hpp>

#include "ops/combine.hpp"
#include "ops/structure.hpp"

namespace rlx::ops {

inline constexpr Operand comm_operands[] = {{"x", numbers | DTypeSet{DType::boolean}},
                                            {"communicator", storable, OperandKind::resource, false, "communicator"},
                                            {"token", {}, OperandKind::token}};

inline Dim ranks(const Signature& s) { return s.resource(1).shape.at(0); }
Answer is_communicator(const ResourceType& t);
template <class A>
Answer has_ranks(const A&, const Signature& s) {
  return is_communicator(s.resource(1));
}
/// Dimension `axis` of x falls into one part a rank; the number of ranks is then a constant.
Answer divides(const Signature& s, int axis);
Answer is_rank(std::int64_t rank, const Signature& s);
Answer can_reduce(Combine kind, DType t);  ///< can_combine, and not `set`.

inline Types with_token(TensorType t) { return {std::move(t), TokenType{}}; }
template <class A>
Types infer_like_x(const A&, const Signature& s) {
  return with_token(tensor(s.dtype(0), s.shape(0)));
}
/// x's dimensions `cut` into one part a rank and `joined` from them; -1: none.
Types infer_parts(const Signature& s, int cut, int joined);

// --- References.
const HostCommunicator& host_communicator(const ReferenceCall& c);
/// The values of all ranks combined in their order, in partial_type, and converted once: rounded, integers wrap.
HostTensor combined_values(Combine kind, const ReferenceCall& c);
/// Part `i` of `parts` of x along `axis`; and tensors joined along one.
HostTensor part_of(const HostTensor& x, int axis, std::int64_t i, std::int64_t parts);
HostTensor joined_along(const std::vector<HostTensor>& xs, int axis);

// --- Rules.
/// A collective of a (co)tangent, after the primal one.
template <class C>
Communicated again(const C& c, std::string_view op, Value x, AnyAttrs attrs) {
  const Values out = c.b.emit(op, {x, c.in[1], c.out[1]}, std::move(attrs));
  return {out[0], out[1]};
}
template <class A>
Batched batch_collective(const BatchCall<A>& c, A attrs) {
  return {c.b.emit(c.node.op->name(), {lead(c.in[0], c.axes[0], c.size), c.in[1], c.in[2]}, std::move(attrs)), {0, -1}};
}
/// For linear collectives: what `transposed` gives of the cotangent.
template <class A, class F>
Values pull_linear(const VjpCall<A>& c, F transposed) {
  return {pulls(c, 0) ? transposed(c.cotangent[0]) : Value{}, Value{}, Value{}};
}
/// For linear collectives: the same of the tangent.
template <class A>
Values push_linear(const JvpCall<A>& c) {
  return {c.tangent[0] ? again(c, c.node.op->name(), c.tangent[0], c.attrs).value : Value{}, Value{}};
}
/// d y / d x of this rank's x at y, the combination of all; for `add` absent: 1.
Value combination_slope(Builder& b, Combine kind, Value x, Value y, Value communicator, Value token);

inline SampleOperand some_ranks(std::int64_t n) { return {Type(communicator(n)), Fill::uniform}; }
inline SampleOperand some_token() { return {Type(TokenType{}), Fill::uniform}; }

}  // namespace rlx::ops
