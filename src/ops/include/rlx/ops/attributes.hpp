// Attribute structs of the primitives. Axes count from 0; dimension lists are outermost first. Dimension numbers of
// gather, scatter and dot_general are StableHLO's.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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

struct ConstantAttrs {
  HostTensor value{};
  bool operator==(const ConstantAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"value", &ConstantAttrs::value, "the tensor"}};
};

struct IotaAttrs {
  DType dtype = DType::i32;
  std::vector<Dim> shape{};
  int axis = 0;
  bool operator==(const IotaAttrs&) const = default;
  static constexpr auto fields = std::tuple{
      Field{"dtype", &IotaAttrs::dtype, "element type"}, Field{"shape", &IotaAttrs::shape, "shape of the result"},
      Field{"axis", &IotaAttrs::axis, "dimension along which values count up from 0"}};
};

struct DimSizeAttrs {
  Dim size = 0;
  DType dtype = DType::i64;
  bool operator==(const DimSizeAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"size", &DimSizeAttrs::size, "the dimension"},
                                            Field{"dtype", &DimSizeAttrs::dtype, "type of the result"}};
};

/// nonzero and repeat, whose results are as long as comes out. `size` is a symbol by itself, which the node introduces,
/// or a number, up to which results are padded.
struct SizedAttrs {
  Dim size = 0;
  Dim bound = -1;
  DType index = DType::i32;
  bool operator==(const SizedAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"size", &SizedAttrs::size, "length of the results: a new symbol, or a number"},
                 Field{"bound", &SizedAttrs::bound, "upper bound of a size that is a symbol; -1: none given"},
                 Field{"index", &SizedAttrs::index, "i32 or i64"}};
};

struct CheckWithinAttrs {
  std::string what{}, of{};
  std::int64_t lower = 0;
  std::string expected{};
  bool operator==(const CheckWithinAttrs&) const = default;
  static constexpr auto fields = std::tuple{
      Field{"what", &CheckWithinAttrs::what, "what an error says of x"},
      Field{"of", &CheckWithinAttrs::of, "operator whose NumericalError it is; empty: an index, an ArgumentError"},
      Field{"lower", &CheckWithinAttrs::lower, "least allowed value"},
      Field{"expected", &CheckWithinAttrs::expected, "what an error says was expected of an index; empty: not known"}};
};

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

/// sort(operands...): all operands are permuted together along `axis`; the first `keys` of them decide, in order.
struct SortAttrs {
  int axis = 0;
  int keys = 1;
  std::vector<bool> descending{};
  bool operator==(const SortAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"axis", &SortAttrs::axis, "dimension"},
                                            Field{"keys", &SortAttrs::keys, "how many operands are keys"},
                                            Field{"descending", &SortAttrs::descending, "one a key; empty: ascending"}};
};

/// Along the last dimension: values [.., k] and indices i32 [.., k], largest first, ties to the first index.
struct TopKAttrs {
  std::int64_t k = 1;
  bool operator==(const TopKAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"k", &TopKAttrs::k, "how many"}};
};

/// StableHLO gather(operand, indices): an index out of range is clamped.
struct GatherAttrs {
  std::vector<int> offset_dims{}, collapsed_slice_dims{}, operand_batching_dims{}, indices_batching_dims{},
      start_index_map{};
  int index_vector_dim = 0;
  std::vector<Dim> slice_sizes{};
  bool operator==(const GatherAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"offset_dims", &GatherAttrs::offset_dims, "result dimensions that run inside a slice"},
                 Field{"collapsed_slice_dims", &GatherAttrs::collapsed_slice_dims,
                       "operand dimensions of slice size 1 that the result lacks"},
                 Field{"operand_batching_dims", &GatherAttrs::operand_batching_dims,
                       "operand dimensions paired with index dimensions"},
                 Field{"indices_batching_dims", &GatherAttrs::indices_batching_dims,
                       "index dimensions paired with operand dimensions"},
                 Field{"start_index_map", &GatherAttrs::start_index_map, "operand dimension of each index component"},
                 Field{"index_vector_dim", &GatherAttrs::index_vector_dim,
                       "dimension of indices that holds a start index; rank: none"},
                 Field{"slice_sizes", &GatherAttrs::slice_sizes, "size of the slice in each operand dimension"}};
};

/// The index that scatter drops by meaning, in checked mode too: the least of its type.
constexpr std::int64_t dropped_index(DType t) { return t == DType::i32 ? INT32_MIN : INT64_MIN; }

/// StableHLO scatter(operand, indices, updates): an index out of range is dropped; repeated ones combine in index
/// order.
struct ScatterAttrs {
  std::vector<int> update_window_dims{}, inserted_window_dims{}, input_batching_dims{}, indices_batching_dims{},
      scatter_dims_to_operand_dims{};
  int index_vector_dim = 0;
  Combine kind = Combine::set;
  bool operator==(const ScatterAttrs&) const = default;
  static constexpr auto fields = std::tuple{
      Field{"update_window_dims", &ScatterAttrs::update_window_dims, "update dimensions that run inside a window"},
      Field{"inserted_window_dims", &ScatterAttrs::inserted_window_dims, "operand dimensions that updates lack"},
      Field{"input_batching_dims", &ScatterAttrs::input_batching_dims,
            "operand dimensions paired with index dimensions"},
      Field{"indices_batching_dims", &ScatterAttrs::indices_batching_dims,
            "index dimensions paired with operand dimensions"},
      Field{"scatter_dims_to_operand_dims", &ScatterAttrs::scatter_dims_to_operand_dims,
            "operand dimension of each index component"},
      Field{"index_vector_dim", &ScatterAttrs::index_vector_dim,
            "dimension of indices that holds an index; rank: none"},
      Field{"kind", &ScatterAttrs::kind, "set, add, min, max or mul"}};
};

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

/// rng_bits(key u32[2], counter u64[]) -> u32[shape]: Philox 4x32-10; element i is word i mod 4 of block counter + i
/// / 4.
struct RngBitsAttrs {
  std::vector<Dim> shape{};
  bool operator==(const RngBitsAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"shape", &RngBitsAttrs::shape, "shape of the result"}};
};

/// rng_uniform and rng_normal: rng_bits turned into numbers of `dtype`.
struct RngRealAttrs {
  DType dtype = DType::f32;
  std::vector<Dim> shape{};
  bool operator==(const RngRealAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"dtype", &RngRealAttrs::dtype, "f32 (one word an element) or f64 (two)"},
                 Field{"shape", &RngRealAttrs::shape, "shape of the result"}};
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

/// sparse.assemble.
struct AssembleAttrs {
  Dim columns = 0;
  bool operator==(const AssembleAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"columns", &AssembleAttrs::columns, "columns of the matrix"}};
};

/// while(state..., invariants...) (condition(state..., invariants...) -> bool[], body(state..., invariants...) ->
/// state...).
struct WhileAttrs {
  int carried = 0;              ///< How many operands are state; results are the final state.
  std::int64_t max_trips = -1;  ///< Upper bound, needed by reverse mode; -1: none known.
  bool operator==(const WhileAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"carried", &WhileAttrs::carried, "operands that are state"},
                 Field{"max_trips", &WhileAttrs::max_trips, "upper bound of the trip count, -1: none"}};
};

/// scan(state..., sequences [length, ...]..., invariants...) (body(state..., elements..., invariants...) -> state...,
/// outputs...)
/// -> final state..., stacked outputs [length, ...].
struct ScanAttrs {
  int carried = 0, sequences = 0;
  Dim length = 0;
  bool reverse = false;
  bool operator==(const ScanAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"carried", &ScanAttrs::carried, "operands that are state"},
                 Field{"sequences", &ScanAttrs::sequences, "operands that are walked along dimension 0"},
                 Field{"length", &ScanAttrs::length, "trip count"},
                 Field{"reverse", &ScanAttrs::reverse, "from the last element to the first"}};
};

/// checkpoint(operands...) (body(operands...) -> results...) -> results...
struct CheckpointAttrs {
  bool recomputes = false;
  bool operator==(const CheckpointAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"recomputes", &CheckpointAttrs::recomputes,
                       "it repeats what was computed before: a barrier keeps both apart. Set by reverse mode"}};
};

}  // namespace rlx::ops
