#include "compile/emit_source/literal.hpp"

#include "compile/emit_source/common.hpp"
#include "compile/emit_source/expand.hpp"
#include "compile/emit_source/words.hpp"

#include <rlx/ir/error.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace rlx::emit_source {
namespace {

std::string hex_bits(const HostTensor& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, value.data(), static_cast<std::size_t>(value.bytes()));
  char text[32];
  std::snprintf(text, sizeof text, bit_width(value.dtype()) == 64 ? "0x%llxul" : "0x%llxu",
                static_cast<unsigned long long>(bits));
  return text;
}

std::string finite(const Element& element, double v) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", v);
  const std::string out = std::string(text) + std::string(element.suffix);
  return std::signbit(v) ? "(" + out + ")" : out;
}

std::string integer(const Element& element, const HostTensor& value) {
  const std::string suffix(element.suffix);
  if (is_unsigned_integer(value.dtype())) return std::to_string(value.get_u64(0)) + suffix;
  const std::int64_t v = value.get_i64(0);
  if (v >= 0) return std::to_string(v) + suffix;
  // In C the literal of the least value would be a positive one that does not fit, and its negation.
  const std::int64_t least = INT64_MIN >> (64 - bit_width(value.dtype()));
  if (v == least) return "(" + std::to_string(v + 1) + suffix + " - 1" + suffix + ")";
  return "(" + std::to_string(v) + suffix + ")";
}

}  // namespace

const Element* find_element(const Dialect& dialect, DType t) {
  for (const Element& e : dialect.elements)
    if (e.dtype == t) return &e;
  const auto has = [&](std::string_view type) { return type.empty() || native_type(dialect, *parse_dtype(type)); };
  for (const Element& e : common_elements)
    if (e.dtype == t && has(e.value) && has(e.memory) && has(e.computing) && has(e.unsigned_same)) return &e;
  return nullptr;
}

std::string literal(const Dialect& dialect, const HostTensor& value) {
  const DType t = value.dtype();
  if (t == DType::boolean) return value.get_i64(0) != 0 ? "true" : "false";
  if (is_complex(t)) {
    const std::complex<double> z = value.get_c128(0);
    const DType part = real_of(t);
    return "make_" + std::string(name(t)) + "(" + literal(dialect, HostTensor::scalar(part, z.real())) + ", " +
           literal(dialect, HostTensor::scalar(part, z.imag())) + ")";
  }
  const Element* element = find_element(dialect, t);
  if (!element) throw InternalError(std::string(dialect.name) + " has no type for " + std::string(name(t)));
  if (is_integer(t)) return integer(*element, value);
  const double v = value.get_f64(0);
  if (!std::isfinite(v)) return expand(element->from_bits, {{'0', hex_bits(value)}, {'D', name(t)}});
  return finite(*element, v);
}

}  // namespace rlx::emit_source
