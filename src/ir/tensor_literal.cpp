// Tensors as attribute text: `f32[2,2](1, 2.5, -0, inf)`, `c64[1]((1, 2))`, `bool[2](true, false)`, or bytes in memory
// order, `u8[3]0x00ff7f`. Both are exact. Bytes are used above 64 elements and for NaNs, which carry payloads. A tensor
// without shape and elements is `none`.
#include <rlx/ir/attributes.hpp>
#include <rlx/ir/counted.hpp>

#include <charconv>
#include <cmath>
#include <cstring>

namespace rlx {

namespace {

constexpr std::int64_t most_listed = 64;  // elements

/// The shortest decimal whose nearest element of type `t` is `v`; `v` is one.
void print_real(std::string& out, DType t, double v) {
  if (t == DType::f64 || !std::isfinite(v)) return print_number(out, v);
  for (int digits = 1; digits < 17; ++digits) {
    char buffer[32];
    const char* end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::general, digits).ptr;
    double back = 0;
    if (std::from_chars(buffer, end, back).ec == std::errc{} && round_to(t, back) == v) return print_number(out, back);
  }
  print_number(out, v);
}

bool has_nan(const HostTensor& t) {
  if (is_integer(t.dtype()) || t.dtype() == DType::boolean) return false;
  for (std::int64_t i = 0; i < t.numel(); ++i)
    if (const auto v = t.get_c128(i); std::isnan(v.real()) || std::isnan(v.imag())) return true;
  return false;
}

void print_element(std::string& out, const HostTensor& t, std::int64_t i) {
  if (t.dtype() == DType::boolean) out += t.get_u64(i) ? "true" : "false";
  else if (is_signed_integer(t.dtype())) out += std::to_string(t.get_i64(i));
  else if (is_unsigned_integer(t.dtype())) out += std::to_string(t.get_u64(i));
  else if (is_complex(t.dtype())) {
    const auto v = t.get_c128(i);
    out += '(';
    print_real(out, real_of(t.dtype()), v.real());
    out += ", ";
    print_real(out, real_of(t.dtype()), v.imag());
    out += ')';
  } else {
    print_real(out, t.dtype(), t.get_f64(i));
  }
}

/// Bits of the last byte that belong to elements: an odd number of i4 leaves half of it unused.
unsigned last_byte_mask(DType t, std::int64_t numel) { return t == DType::i4 && numel % 2 ? 0x0Fu : 0xFFu; }

/// As it would be stored anew: no bits between elements, bool 0 or 1.
unsigned stored_byte(const HostTensor& t, std::int64_t i) {
  const auto b = std::to_integer<unsigned>(t.data()[i]);
  if (t.dtype() == DType::boolean) return b != 0;
  return i + 1 == t.bytes() ? b & last_byte_mask(t.dtype(), t.numel()) : b;
}

void print_bytes(std::string& out, const HostTensor& t) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += "0x";
  for (std::int64_t i = 0; i < t.bytes(); ++i) {
    const unsigned b = stored_byte(t, i);
    (out += hex[b >> 4]) += hex[b & 15];
  }
}

double parse_real(TextReader& in, DType t) {
  const std::size_t at = in.token_offset();
  const double v = in.number();
  // Too large, or an infinity where the type has none.
  if (!std::isnan(v) && (std::isfinite(v) ? !std::isfinite(round_to(t, v)) : round_to(t, v) != v))
    in.fail("a number that " + std::string(name(t)) + " can hold", at);
  return v;
}

void parse_element(TextReader& in, HostTensor& t, std::int64_t i) {
  const DType d = t.dtype();
  if (d == DType::boolean) {
    t.set_u64(i, FieldCodec<bool>::parse(in));
  } else if (is_integer(d)) {
    const std::size_t at = in.token_offset();
    const int value_bits = bit_width(d) - is_signed_integer(d);
    if (is_signed_integer(d)) {
      const std::int64_t v = in.integer();
      if (v >> value_bits != (v < 0 ? -1 : 0)) in.fail("an integer that " + std::string(name(d)) + " can hold", at);
      t.set_i64(i, v);
    } else {
      const std::uint64_t v = in.unsigned_integer();
      if (value_bits < 64 && v >> value_bits) in.fail("an integer that " + std::string(name(d)) + " can hold", at);
      t.set_u64(i, v);
    }
  } else if (is_complex(d)) {
    in.expect("(");
    const double re = parse_real(in, real_of(d));
    in.expect(",");
    const double im = parse_real(in, real_of(d));
    in.expect(")");
    t.set_c128(i, {re, im});
  } else {
    t.set_f64(i, parse_real(in, d));
  }
}

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::vector<std::int64_t> parse_shape(TextReader& in) {
  std::vector<std::int64_t> shape;
  in.expect("[");
  if (in.accept("]")) return shape;
  do {
    const std::size_t at = in.token_offset();
    shape.push_back(in.integer());
    if (shape.back() < 0) in.fail("a size that is not negative", at);
  } while (in.accept(","));
  in.expect("]");
  return shape;
}

HostTensor from_bytes(TextReader& in, std::size_t at, std::string_view digits, DType dtype,
                      std::vector<std::int64_t> shape, std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(byte_size(dtype, count));
  if (digits.size() != 2 * bytes)
    in.fail_at(
        at, std::to_string(digits.size()) + " hexadecimal digits where " + std::to_string(2 * bytes) + " are needed");
  HostTensor t(dtype, std::move(shape));
  std::byte* data = t.mutable_data();
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto b = static_cast<unsigned>(nibble(digits[2 * i]) << 4 | nibble(digits[2 * i + 1]));
    if ((dtype == DType::boolean && b > 1) || (i + 1 == bytes && (b & ~last_byte_mask(dtype, count))))
      in.fail_at(at, "byte " + std::to_string(i) + " is no " + std::string(name(dtype)));
    data[i] = static_cast<std::byte>(b);
  }
  return t;
}

}  // namespace

void FieldCodec<HostTensor>::print(std::string& out, const HostTensor& t) {
  if (t.shape().empty() && t.numel() == 0) {
    out += "none";
    return;
  }
  out += name(t.dtype());
  out += '[';
  for (int i = 0; i < t.rank(); ++i) out += (i ? "," : "") + std::to_string(t.shape()[static_cast<std::size_t>(i)]);
  out += ']';
  if (t.numel() > most_listed || has_nan(t)) return print_bytes(out, t);
  out += '(';
  for (std::int64_t i = 0; i < t.numel(); ++i) {
    if (i) out += ", ";
    print_element(out, t, i);
  }
  out += ')';
}

HostTensor FieldCodec<HostTensor>::parse(TextReader& in) {
  if (in.accept("none")) return {};
  const std::size_t at = in.token_offset();
  const DType dtype = FieldCodec<DType>::parse(in);
  std::vector<std::int64_t> shape = parse_shape(in);
  std::int64_t count = 0;
  try {
    count = element_count(std::span<const std::int64_t>(shape));
  } catch (const MemoryError&) { in.fail_at(at, "tensor has more than 2^63 elements"); }
  // Nothing is allocated for elements that the text is too short to hold: each takes a hexadecimal digit or more.
  if (count > static_cast<std::int64_t>(in.remaining()))
    in.fail_at(at, "tensor has " + counted(count, "element") + ", more than the text goes on to state");
  const std::size_t elements_at = in.token_offset();
  if (const auto digits = in.hex_digits()) return from_bytes(in, elements_at, *digits, dtype, std::move(shape), count);
  in.expect("(");
  HostTensor t(dtype, std::move(shape));
  for (std::int64_t i = 0; i < count; ++i) {
    if (i) in.expect(",");
    parse_element(in, t, i);
  }
  in.expect(")");
  return t;
}

}  // namespace rlx
