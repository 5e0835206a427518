// OpDef of an operator that exists only in LIR: every slot that speaks of mathematics answers Never.
#pragma once
#include <rlx/ir/op_def.hpp>

namespace rlx::lir {

inline constexpr Never only_in_lir{"operators of LIR are made by lowering and have no rule of their own"};

/// What is left to say of a LIR operator.
template <class A>
struct LirSlots {
  std::span<const Operand> operands{};
  std::span<const Constraint<A>> constraints{};
  Types (*infer)(const A&, const Signature&);
  std::vector<Types> (*region_arguments)(const A&, const Signature&) = nullptr;
};

template <class A>
constexpr OpDef<A> lir_def(std::string_view name, std::string_view doc, LirSlots<A> s) {
  return {.name = name,
          .doc = doc,
          .operands = s.operands,
          .constraints = s.constraints,
          .infer = s.infer,
          .meaning = Extern<A>{[](const A&, const ReferenceCall&) -> HostValues {
            throw InternalError("a LIR operator has no host reference: run the program it was lowered from");
          }},
          .vjp = only_in_lir,
          .jvp = only_in_lir,
          .batch = only_in_lir,
          .shard = only_in_lir,
          .cost = only_in_lir,
          .samples = [] { return std::vector<Sample<A>>{}; },
          .region_arguments = s.region_arguments,
          .traits = Trait::lir};
}

/// Whether `t` is a rank-0 tensor value of this dtype.
inline bool is_scalar(const Type& t, DType d) {
  const auto* x = std::get_if<TensorType>(&t);
  return x && x->space == Space::value && x->is_scalar() && x->dtype == d;
}
inline bool is_scalar(const Type& t) {
  const auto* x = std::get_if<TensorType>(&t);
  return x && x->space == Space::value && x->is_scalar();
}
inline bool is_buffer(const Type& t) {
  const auto* x = std::get_if<TensorType>(&t);
  return x && x->space != Space::value;
}

inline Type index_type() { return TensorType{DType::i64}; }

}  // namespace rlx::lir
