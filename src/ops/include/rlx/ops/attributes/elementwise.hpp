// Attributes of elementwise operators.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <span>
#include <string_view>
#include <tuple>

namespace rlx::ops {

enum class Direction { eq, ne, lt, le, gt, ge };
inline std::span<const std::string_view> enum_names(Direction) {
  static constexpr std::string_view names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  return names;
}
struct CompareAttrs {
  Direction direction = Direction::eq;
  bool operator==(const CompareAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"direction", &CompareAttrs::direction, "eq, ne, lt, le, gt or ge"}};
};

/// convert, bitcast and dequantize.
struct DTypeAttrs {
  DType dtype = DType::f32;
  bool operator==(const DTypeAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"dtype", &DTypeAttrs::dtype, "element type of the result"}};
};

struct ReducePrecisionAttrs {
  int exponent_bits = 8, mantissa_bits = 23;
  bool operator==(const ReducePrecisionAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"exponent_bits", &ReducePrecisionAttrs::exponent_bits, "at least 1"},
                 Field{"mantissa_bits", &ReducePrecisionAttrs::mantissa_bits, "without the hidden bit"}};
};

}  // namespace rlx::ops
