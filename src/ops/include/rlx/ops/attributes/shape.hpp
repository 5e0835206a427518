// Attributes of operators that move elements and compute nothing. Axes count from 0; dimension lists are outermost
// first.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

namespace rlx::ops {

/// Dimension i of the operand becomes dimension axes[i] of the result; size 1 stretches.
struct BroadcastAttrs {
  std::vector<Dim> shape{};
  std::vector<int> axes{};
  bool operator==(const BroadcastAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"shape", &BroadcastAttrs::shape, "shape of the result"},
                 Field{"axes", &BroadcastAttrs::axes, "result dimension of each operand dimension, ascending"}};
};

struct ReshapeAttrs {
  std::vector<Dim> shape{};
  bool operator==(const ReshapeAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"shape", &ReshapeAttrs::shape, "shape of the result, of as many elements"}};
};

/// Dimension i of the result is dimension permutation[i] of the operand.
struct TransposeAttrs {
  std::vector<int> permutation{};
  bool operator==(const TransposeAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"permutation", &TransposeAttrs::permutation, "operand dimension of each result dimension"}};
};

struct SliceAttrs {
  std::vector<Dim> start{}, limit{};
  std::vector<std::int64_t> stride{};  ///< Empty: all 1.
  bool operator==(const SliceAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"start", &SliceAttrs::start, "first index, inclusive"},
                                            Field{"limit", &SliceAttrs::limit, "last index, exclusive"},
                                            Field{"stride", &SliceAttrs::stride, "positive step; empty: 1 everywhere"}};
};

struct DynamicSliceAttrs {
  std::vector<Dim> sizes{};
  bool operator==(const DynamicSliceAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"sizes", &DynamicSliceAttrs::sizes, "shape of the result"}};
};

/// Negative low or high cuts; interior elements go between neighbours.
struct PadAttrs {
  std::vector<std::int64_t> low{}, high{}, interior{};
  bool operator==(const PadAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"low", &PadAttrs::low, "elements before"}, Field{"high", &PadAttrs::high, "elements after"},
                 Field{"interior", &PadAttrs::interior, "elements between neighbours; empty: none"}};
};

/// concat, and the cumulative and arg-reductions that run along one dimension.
struct AxisAttrs {
  int axis = 0;
  bool operator==(const AxisAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"axis", &AxisAttrs::axis, "dimension"}};
};

/// reverse and reduce.
struct AxesAttrs {
  std::vector<int> axes{};
  bool operator==(const AxesAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"axes", &AxesAttrs::axes, "dimensions, ascending, without repeats"}};
};

}  // namespace rlx::ops
