// Sizes that files claim, checked before anything is allocated for them.
#pragma once
#include <rlx/ir/dtype.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rlx::formats {

// Every format here stores little endian first; readers and writers copy bytes as they are.
static_assert(std::endian::native == std::endian::little, "a big endian host needs byte swaps in src/formats");

/// Bytes of a packed tensor, or nothing where a dimension is negative or the product of those that are not zero leaves
/// 63 bits; the latter also when another dimension is zero, because strides are products too.
std::optional<std::int64_t> checked_bytes(DType dtype, std::span<const std::int64_t> shape);

/// Offset of the first byte of a bool array that is neither 0 nor 1.
std::optional<std::size_t> find_bad_bool(const void* data, std::size_t bytes);

/// "[2, 3]"
std::string shape_text(std::span<const std::int64_t> shape);
/// Up to 40 characters of `text` in quotes, what cannot be printed as \xNN.
std::string in_quotes(std::string_view text);

}  // namespace rlx::formats
