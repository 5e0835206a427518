// The family's builder functions as functions over tensors.
#pragma once
#include <rlx/splat/tensor.hpp>
#include <rlx/tensor.hpp>

namespace rlx::splat {

/// The one result of `emit`, which is given the operands as values of a graph; without a caller it is nowhere.
template <class F>
Tensor emitted(const Handles& operands, const F& emit, const Caller& caller = {}) {
  ensure_registered();
  return Tensor(build(operands, [&](Builder&, ValuesIn v) { return Values{emit(v)}; }, caller)[0]);
}

}  // namespace rlx::splat
