// Attributes of operators that combine elements along dimensions, which count from 0.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace rlx::ops {

/// What `accumulate` and `result` of reduce and associative_scan say of operand `i`: `otherwise` where they are empty,
/// too short (which constraints refuse) or bool.
inline DType listed_type(const std::vector<DType>& types, std::size_t i, DType otherwise) {
  return i < types.size() && types[i] != DType::boolean ? types[i] : otherwise;
}

/// reduce(operands..., identities...) (combine(a..., b...)): all operands are reduced together. Elements and identities
/// are converted to the types of `accumulate`, in which the region combines them, and what comes out is converted once
/// to the types of `result`. As those of dot_general they are, unless named, default_accumulator of the operands' types
/// and the operands' types, and as there integers wrap into a narrow result.
struct ReduceAttrs {
  std::vector<int> axes{};
  std::vector<DType> accumulate{}, result{};
  bool operator==(const ReduceAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"axes", &ReduceAttrs::axes, "reduced dimensions, ascending, without repeats"},
                 Field{"accumulate", &ReduceAttrs::accumulate,
                       "types of partial results and of the region's arguments, one for each of xs; empty or bool: f32 "
                       "for f16, bf16 and fp8, i32 for i8 and i4, else the operand's"},
                 Field{"result", &ReduceAttrs::result,
                       "types of the results, one for each of xs; empty or bool: the operand's, into which integers "
                       "wrap"}};
};

/// associative_scan: inclusive prefix combination along `axis`; `accumulate` and `result` as those of reduce: the
/// prefix is carried in the former, each result rounded from it.
struct AssociativeScanAttrs {
  int axis = 0;
  bool reverse = false, exclusive = false;
  std::vector<DType> accumulate{}, result{};
  bool operator==(const AssociativeScanAttrs&) const = default;
  static constexpr auto fields = std::tuple{
      Field{"axis", &AssociativeScanAttrs::axis, "dimension"},
      Field{"reverse", &AssociativeScanAttrs::reverse, "from the end"},
      Field{"exclusive", &AssociativeScanAttrs::exclusive, "without the element itself; starts with the identity"},
      Field{
          "accumulate", &AssociativeScanAttrs::accumulate,
          "types in which prefixes are carried and combined, one for each of xs; empty or bool: f32 for f16, bf16 and "
          "fp8, i32 for i8 and i4, else the operand's"},
      Field{"result", &AssociativeScanAttrs::result,
            "types of the results, one for each of xs; empty or bool: the operand's, into which integers wrap"}};
};

enum class Extremum { min, max };
inline std::span<const std::string_view> enum_names(Extremum) {
  static constexpr std::string_view names[] = {"min", "max"};
  return names;
}
struct ArgReduceAttrs {
  int axis = 0;
  Extremum kind = Extremum::max;
  DType index = DType::i32;
  bool operator==(const ArgReduceAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"axis", &ArgReduceAttrs::axis, "reduced dimension"},
                 Field{"kind", &ArgReduceAttrs::kind, "min or max; NaN wins, ties go to the first"},
                 Field{"index", &ArgReduceAttrs::index, "i32 or i64"}};
};

enum class Combine { set, add, min, max, mul };
inline std::span<const std::string_view> enum_names(Combine) {
  static constexpr std::string_view names[] = {"set", "add", "min", "max", "mul"};
  return names;
}

/// Over windows of one size in every dimension; padding counts as the identity.
struct ReduceWindowAttrs {
  Combine kind = Combine::add;
  std::vector<std::int64_t> window{}, stride{}, dilation{}, low{}, high{};
  bool operator==(const ReduceWindowAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"kind", &ReduceWindowAttrs::kind, "add, min, max or mul"},
                 Field{"window", &ReduceWindowAttrs::window, "size in each dimension"},
                 Field{"stride", &ReduceWindowAttrs::stride, "step; empty: 1"},
                 Field{"dilation", &ReduceWindowAttrs::dilation, "distance of window elements; empty: 1"},
                 Field{"low", &ReduceWindowAttrs::low, "padding before; empty: 0"},
                 Field{"high", &ReduceWindowAttrs::high, "padding after; empty: 0"}};
};

/// segment_reduce(data [n, ...], offsets [segments + 1]) -> [segments, ...].
struct SegmentReduceAttrs {
  Combine kind = Combine::add;
  bool operator==(const SegmentReduceAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"kind", &SegmentReduceAttrs::kind, "add, min, max or mul; an empty segment gives the identity"}};
};

/// mean over `axes`; logsumexp.
struct MomentAttrs {
  std::vector<int> axes{};
  bool keep = false;
  bool operator==(const MomentAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"axes", &MomentAttrs::axes, "reduced dimensions, ascending, without repeats"},
                 Field{"keep", &MomentAttrs::keep, "leave them in place with size 1"}};
};

struct VarAttrs {
  std::vector<int> axes{};
  bool keep = false;
  std::int64_t correction = 0;
  bool operator==(const VarAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"axes", &VarAttrs::axes, "reduced dimensions, ascending, without repeats"},
                 Field{"keep", &VarAttrs::keep, "leave them in place with size 1"},
                 Field{"correction", &VarAttrs::correction, "subtracted from the count: 1 for a sample's variance"}};
};

struct LayerNormAttrs {
  double epsilon = 1e-5;
  bool operator==(const LayerNormAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"epsilon", &LayerNormAttrs::epsilon, "added to the variance"}};
};

}  // namespace rlx::ops
