#include "sizes.hpp"

namespace rlx::formats {

std::optional<std::int64_t> checked_bytes(DType dtype, std::span<const std::int64_t> shape) {
  std::int64_t bits = bit_width(dtype);
  bool empty = false;
  for (const std::int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) empty = true;
    else if (__builtin_mul_overflow(bits, dim, &bits)) return std::nullopt;
  }
  return empty ? 0 : bits / 8 + (bits % 8 != 0);
}

std::optional<std::size_t> find_bad_bool(const void* data, std::size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i)
    if (p[i] > 1) return i;
  return std::nullopt;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string s = "[";
  for (const std::int64_t dim : shape) s += (s.size() > 1 ? ", " : "") + std::to_string(dim);
  return s + "]";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  constexpr char digits[] = "0123456789abcdef";
  std::string s = "'";
  for (const char c : text.substr(0, longest)) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code < 0x7f) s += c;
    else (s += "\\x") += {digits[code >> 4], digits[code & 15]};
  }
  return s + (text.size() > longest ? "...'" : "'");
}

}  // namespace rlx::formats
