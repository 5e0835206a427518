// Attributes of products that contract dimensions, with StableHLO's dimension numbers, and of Fourier transforms.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace rlx::ops {

/// How f32 operands are multiplied: tf32 and bf16x3 are leave to lose bits, which a device without a faster way does
/// not use; the report says so.
enum class Algorithm { exact, tf32, bf16x3 };
inline std::span<const std::string_view> enum_names(Algorithm) {
  static constexpr std::string_view names[] = {"exact", "tf32", "bf16x3"};
  return names;
}
/// Result: batch dimensions, then the free ones of lhs, then those of rhs. The result's dtype is `result`, which is the
/// operands' unless `set_result` asks for another (bf16 x bf16 -> f32).
struct DotGeneralAttrs {
  std::vector<int> lhs_batch{}, rhs_batch{}, lhs_contract{}, rhs_contract{};
  DType accumulate = DType::boolean;  ///< boolean: default_accumulator of the operands' type.
  DType result = DType::boolean;      ///< boolean: the operands' type.
  Algorithm algorithm = Algorithm::exact;
  bool operator==(const DotGeneralAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"lhs_batch", &DotGeneralAttrs::lhs_batch, "batch dimensions of lhs"},
                 Field{"rhs_batch", &DotGeneralAttrs::rhs_batch, "batch dimensions of rhs"},
                 Field{"lhs_contract", &DotGeneralAttrs::lhs_contract, "contracted dimensions of lhs"},
                 Field{"rhs_contract", &DotGeneralAttrs::rhs_contract, "contracted dimensions of rhs"},
                 Field{"accumulate", &DotGeneralAttrs::accumulate,
                       "type of partial sums; bool: the default of the operands' type"},
                 Field{"result", &DotGeneralAttrs::result, "type of the result; bool: the operands' type"},
                 Field{"algorithm", &DotGeneralAttrs::algorithm, "exact, tf32 or bf16x3"}};
};

/// conv(input [N, spatial..., C], kernel [spatial..., C / groups, F]) -> [N, spatial..., F].
struct ConvAttrs {
  std::vector<std::int64_t> stride{}, low{}, high{}, input_dilation{}, kernel_dilation{};
  std::int64_t groups = 1;
  DType accumulate = DType::boolean;
  Algorithm algorithm = Algorithm::exact;
  bool operator==(const ConvAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"stride", &ConvAttrs::stride, "step in each spatial dimension; empty: 1"},
                 Field{"low", &ConvAttrs::low, "padding before; empty: 0"},
                 Field{"high", &ConvAttrs::high, "padding after; empty: 0"},
                 Field{"input_dilation", &ConvAttrs::input_dilation, "distance of input elements; empty: 1"},
                 Field{"kernel_dilation", &ConvAttrs::kernel_dilation, "distance of kernel elements; empty: 1"},
                 Field{"groups", &ConvAttrs::groups, "channel groups"},
                 Field{"accumulate", &ConvAttrs::accumulate, "type of partial sums; bool: the default"},
                 Field{"algorithm", &ConvAttrs::algorithm, "exact, tf32 or bf16x3"}};
};

enum class Ragged { rows, contract };
inline std::span<const std::string_view> enum_names(Ragged) {
  static constexpr std::string_view names[] = {"rows", "contract"};
  return names;
}
/// Rows come in groups, one after the other, of sizes group_sizes [g]; rows after the last group count nowhere.
/// rows: ragged_dot(lhs [m,k], rhs [g,k,n], group_sizes) -> [m,n], each row times the matrix of its group, 0 without a
/// group. contract: ragged_dot(lhs [m,k], rhs [m,n], group_sizes) -> [g,k,n], the product transpose(lhs) rhs of each
/// group.
struct RaggedDotAttrs {
  Ragged mode = Ragged::rows;
  DType accumulate = DType::boolean;
  bool operator==(const RaggedDotAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"mode", &RaggedDotAttrs::mode, "rows or contract: where the ragged dimension is"},
                 Field{"accumulate", &RaggedDotAttrs::accumulate, "type of partial sums; bool: the default"}};
};

enum class FftKind { forward, inverse, real_forward, real_inverse };
inline std::span<const std::string_view> enum_names(FftKind) {
  static constexpr std::string_view names[] = {"forward", "inverse", "real_forward", "real_inverse"};
  return names;
}
/// Along the last dimension. inverse and real_inverse divide by the length.
struct FftAttrs {
  FftKind kind = FftKind::forward;
  std::int64_t length = 0;  ///< Of the last dimension, in time.
  bool operator==(const FftAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"kind", &FftAttrs::kind, "forward, inverse, real_forward or real_inverse"},
                 Field{"length", &FftAttrs::length, "length of the last dimension in time"}};
};

}  // namespace rlx::ops
