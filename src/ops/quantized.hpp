// What operators on quantized tensors share: which they are, and where they cannot be cut.
#pragma once
#include "ops/structure.hpp"

#include <memory>
#include <utility>

namespace rlx::ops {

inline bool is_quantized(const TensorType& t) { return t.quantization != nullptr; }
inline bool is_blocked(const TensorType& t) { return is_quantized(t) && !t.quantization->block_format.empty(); }
/// Dimensions along which a part would need another type: that of the blocks, or the one that has a scale each.
inline Axes whole_dimensions(const TensorType& t) {
  if (is_blocked(t)) return {t.rank() - 1};
  return is_quantized(t) && t.quantization->axis >= 0 ? Axes{t.quantization->axis} : Axes{};
}
inline TensorType quantized(TensorType t, Quantization q) {
  t.quantization = std::make_shared<const Quantization>(std::move(q));
  return t;
}

}  // namespace rlx::ops
