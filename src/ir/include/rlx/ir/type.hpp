// Types of values: tensor, sparse, resource, token.
#pragma once
#include <rlx/ir/dtype.hpp>
#include <rlx/ir/shape.hpp>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rlx {

/// Where memory is. `value` marks an SSA value; any other space makes a tensor type the type of a *buffer* in LIR,
/// which loads read and stores write.
enum class Space : std::uint8_t { value, host, pinned, device, local, flash };
RLX_API std::string_view name(Space s);
RLX_API std::optional<Space> parse_space(std::string_view text);

/// Order of dimensions in memory, fastest first, then tiles and padding (elements added at the end of each dimension).
/// A null layout pointer means row-major without padding.
struct Layout {
  std::vector<int> minor_to_major;
  std::vector<std::int64_t> tiles{};
  std::vector<std::int64_t> padding{};
  bool operator==(const Layout&) const = default;
};

/// real = scale * (stored - zero_point). One entry each, or one a slice along `axis`. Blocked kinds name their block
/// format instead ("q4_k", "mxfp4") and carry their scales inside the block: their elements are the bytes, whole blocks
/// along the last dimension. dtype and shape of a quantized tensor are those of what is stored, so that its memory is
/// that of the plain tensor; `dequantize` gives the numbers, and knows the formats.
struct Quantization {
  std::vector<double> scales{};
  std::vector<std::int64_t> zero_points{};
  int axis = -1;
  std::string block_format{};
  bool operator==(const Quantization&) const = default;
};

/// How a value is spread over the ranks of a mesh, whose axes have names; its shape stays that of the whole. Ranks
/// along an axis that is not named hold the same. Only HIR has it: sharding makes MIR per rank, with explicit
/// collectives.
struct Sharding {
  std::vector<std::vector<std::string>> split{};  ///< One list a dimension: the axes it is cut over, outermost first.
  /// Along these axes each rank holds a partial sum: the sum over the ranks is the value.
  std::vector<std::string> partial{};
  bool operator==(const Sharding&) const = default;
};

struct TensorType {
  DType dtype = DType::f32;
  Shape shape{};
  Space space = Space::value;
  std::shared_ptr<const Layout> layout{};              ///< Null: row-major.
  std::shared_ptr<const Quantization> quantization{};  ///< Null: plain elements.
  std::shared_ptr<const Sharding> sharding{};          ///< Null: whole on every rank.

  int rank() const { return static_cast<int>(shape.size()); }
  const Dim& dim(int axis) const { return shape.at(static_cast<std::size_t>(axis)); }
  Dim numel() const { return element_count(shape); }
  bool is_scalar() const { return shape.empty(); }
  RLX_API friend bool operator==(const TensorType& a, const TensorType& b);
};

enum class SparseFormat : std::uint8_t { csr, csc, coo, bsr, ell };
RLX_API std::string_view name(SparseFormat f);
RLX_API std::optional<SparseFormat> parse_sparse_format(std::string_view text);

/// One value that stands for a sparse matrix; lowering splits it into its arrays: for csr row offsets [rows + 1] and
/// column indices [entries] of `index`, values [entries] of `dtype`. Columns ascend within a row and do not repeat.
struct SparseType {
  SparseFormat format = SparseFormat::csr;
  DType dtype = DType::f64;
  DType index = DType::i32;
  Shape shape{};                               ///< [rows, columns]
  Dim entries{};                               ///< Stored entries.
  std::shared_ptr<const Sharding> sharding{};  ///< Null: whole on every rank.
  RLX_API friend bool operator==(const SparseType& a, const SparseType& b);
};

/// A value whose representation belongs to the lowering that made it: a factorization, a preconditioner, a
/// communicator. `provider` is empty until dispatch fills it in. dtype and shape describe what it acts on.
struct ResourceType {
  std::string kind;
  std::string provider{};
  DType dtype = DType::f64;
  Shape shape{};
  bool operator==(const ResourceType&) const = default;
};

/// Orders communication and input/output.
struct TokenType {
  bool operator==(const TokenType&) const = default;
};

using Type = std::variant<TensorType, SparseType, ResourceType, TokenType>;
using Types = std::vector<Type>;

/// "f32[2,n]", "f32[8]@device", "csr<f64,i32>[n,n]{nnz}", "resource<sparse_lu,umfpack,f64>[n,n]", "token".
/// Layout, quantization and sharding follow a tensor in braces: "f32[2,3]{layout=(0,1)}"; type.cpp lists the keys. The
/// sharding of a sparse matrix follows its entries: "csr<f64,i32>[n,n]{nnz,split=((rows),())}".
RLX_API std::string to_string(const Type& t);
/// Throws FormatError (file empty) with the offset in `text`.
RLX_API Type parse_type(std::string_view text);
RLX_API Type substitute(const Type& t, const Bindings& bindings);
RLX_API bool is_constant(const Type& t);
/// Of a tensor or a sparse matrix; null where it is whole on every rank.
RLX_API const Sharding* sharding(const Type& t);
/// Adds the symbols that its dimensions depend on.
RLX_API void collect_symbols(const Type& t, std::set<std::string>& symbols);

/// `stored`, the type of a host value (host tensors are plain), with the quantization that `declared` gives it.
RLX_API Type as_declared(Type stored, const Type& declared);
/// `t` with a dimension inserted before `axis`; the axis of a quantization goes on naming the same dimension.
RLX_API TensorType with_dimension(TensorType t, int axis, Dim size);

inline TensorType tensor(DType dtype, Shape shape) { return {dtype, std::move(shape)}; }
inline TensorType f16(Shape s) { return {DType::f16, std::move(s)}; }
inline TensorType bf16(Shape s) { return {DType::bf16, std::move(s)}; }
inline TensorType f32(Shape s) { return {DType::f32, std::move(s)}; }
inline TensorType f64(Shape s) { return {DType::f64, std::move(s)}; }
inline TensorType c64(Shape s) { return {DType::c64, std::move(s)}; }
inline TensorType c128(Shape s) { return {DType::c128, std::move(s)}; }
inline TensorType i32(Shape s) { return {DType::i32, std::move(s)}; }
inline TensorType i64(Shape s) { return {DType::i64, std::move(s)}; }
inline TensorType boolean(Shape s) { return {DType::boolean, std::move(s)}; }

}  // namespace rlx
