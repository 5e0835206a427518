// Element types: their names, sizes and classes. Conversions of values live in host_tensor.hpp.
#pragma once
#include <rlx/ir/export.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace rlx {

/// c64 is two f32, c128 two f64. i4 packs two elements a byte, the low nibble first. The f8 types are OCP's e4m3fn and
/// e5m2 and their fnuz variants, which are types of their own.
enum class DType : std::uint8_t {
  f16,
  bf16,
  f32,
  f64,
  c64,
  c128,
  i4,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  f8e4m3fn,
  f8e5m2,
  f8e4m3fnuz,
  f8e5m2fnuz,
};

inline constexpr int dtype_count = 20;

namespace detail {
struct DTypeRow {
  std::string_view name;
  int bits;
  char kind;
};  // kind: f c i u b
inline constexpr std::array<DTypeRow, dtype_count> dtype_rows{{
    {"f16", 16, 'f'},   {"bf16", 16, 'f'},    {"f32", 32, 'f'},   {"f64", 64, 'f'},       {"c64", 64, 'c'},
    {"c128", 128, 'c'}, {"i4", 4, 'i'},       {"i8", 8, 'i'},     {"i16", 16, 'i'},       {"i32", 32, 'i'},
    {"i64", 64, 'i'},   {"u8", 8, 'u'},       {"u16", 16, 'u'},   {"u32", 32, 'u'},       {"u64", 64, 'u'},
    {"bool", 8, 'b'},   {"f8e4m3fn", 8, 'f'}, {"f8e5m2", 8, 'f'}, {"f8e4m3fnuz", 8, 'f'}, {"f8e5m2fnuz", 8, 'f'},
}};
}  // namespace detail

constexpr std::string_view name(DType t) { return detail::dtype_rows[static_cast<int>(t)].name; }
/// Width of one element in bits; bool is stored as one byte, 0 or 1.
constexpr int bit_width(DType t) { return detail::dtype_rows[static_cast<int>(t)].bits; }
/// Bytes that `count` packed elements occupy; only i4 shares bytes.
constexpr std::int64_t byte_size(DType t, std::int64_t count) { return (count * bit_width(t) + 7) / 8; }
constexpr bool is_floating(DType t) { return detail::dtype_rows[static_cast<int>(t)].kind == 'f'; }
constexpr bool is_complex(DType t) { return detail::dtype_rows[static_cast<int>(t)].kind == 'c'; }
constexpr bool is_signed_integer(DType t) { return detail::dtype_rows[static_cast<int>(t)].kind == 'i'; }
constexpr bool is_unsigned_integer(DType t) { return detail::dtype_rows[static_cast<int>(t)].kind == 'u'; }
constexpr bool is_integer(DType t) { return is_signed_integer(t) || is_unsigned_integer(t); }

/// The real type of a complex one's parts; a real type is its own.
constexpr DType real_of(DType t) { return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t; }

constexpr std::optional<DType> parse_dtype(std::string_view text) {
  for (int i = 0; i < dtype_count; ++i)
    if (detail::dtype_rows[i].name == text) return static_cast<DType>(i);
  return std::nullopt;
}

/// Type in which sums of `t` accumulate unless an operator says otherwise.
constexpr DType default_accumulator(DType t) {
  if (t == DType::i4 || t == DType::i8) return DType::i32;
  return is_floating(t) && bit_width(t) < 32 ? DType::f32 : t;
}

/// A set of element types, usable in constant expressions; the unit in which operators and kernels state support.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(DType t) : bits_(1u << static_cast<int>(t)) {}
  constexpr DTypeSet(std::initializer_list<DType> ts) {
    for (DType t : ts) bits_ |= 1u << static_cast<int>(t);
  }
  constexpr bool contains(DType t) const { return bits_ >> static_cast<int>(t) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DTypeSet operator|(DTypeSet o) const { return from_bits(bits_ | o.bits_); }
  constexpr DTypeSet operator&(DTypeSet o) const { return from_bits(bits_ & o.bits_); }
  constexpr DTypeSet operator-(DTypeSet o) const { return from_bits(bits_ & ~o.bits_); }
  constexpr bool operator==(const DTypeSet&) const = default;
  /// Members in the order of the enumeration, as "{f32, f64}".
  std::string to_string() const {
    std::string s = "{";
    for (int i = 0; i < dtype_count; ++i)
      if (bits_ >> i & 1u) s += (s.size() > 1 ? ", " : "") + std::string(detail::dtype_rows[i].name);
    return s + "}";
  }

 private:
  static constexpr DTypeSet from_bits(std::uint32_t b) {
    DTypeSet s;
    s.bits_ = b;
    return s;
  }
  std::uint32_t bits_ = 0;
};

inline constexpr DTypeSet floating{DType::f16, DType::bf16, DType::f32, DType::f64};
inline constexpr DTypeSet float8{DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz};
inline constexpr DTypeSet complex_types{DType::c64, DType::c128};
inline constexpr DTypeSet signed_integers{DType::i8, DType::i16, DType::i32, DType::i64};
inline constexpr DTypeSet unsigned_integers{DType::u8, DType::u16, DType::u32, DType::u64};
inline constexpr DTypeSet integers = signed_integers | unsigned_integers;
inline constexpr DTypeSet index_types{DType::i32, DType::i64};
inline constexpr DTypeSet real_numbers = floating | integers;
inline constexpr DTypeSet numbers = real_numbers | complex_types;
inline constexpr DTypeSet storable = numbers | float8 | DTypeSet{DType::i4, DType::boolean};

}  // namespace rlx
