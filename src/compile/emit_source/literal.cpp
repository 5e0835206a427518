#include "compile/emit_source/literal.hpp"

#include "compile/emit_source/expand.hpp"

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

std::string finite(const Dialect& dialect, const Element& element, double v, int digits) {
  char text[64];
  if (dialect.hex_floats) {
    std::snprintf(text, sizeof text, "%a", v);
  } else {
    std::snprintf(text, sizeof text, "%.*e", digits - 1, v);
  }
  std::string out = std::string(text) + std::string(element.suffix);
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
  return nullptr;
}

std::string literal(const Dialect& dialect, const Element& element, const HostTensor& value) {
  const DType t = value.dtype();
  if (t == DType::boolean) return value.get_i64(0) != 0 ? "true" : "false";
  if (is_integer(t)) return integer(element, value);
  if (is_complex(t)) {
    const Element* part = find_element(dialect, real_of(t));
    if (!part) throw InternalError(std::string(dialect.name) + " has complex elements but not their parts");
    const std::complex<double> z = value.get_c128(0);
    return expand(element.pair, {{'0', literal(dialect, *part, HostTensor::scalar(real_of(t), z.real()))},
                                 {'1', literal(dialect, *part, HostTensor::scalar(real_of(t), z.imag()))}});
  }
  const double v = value.get_f64(0);
  if (!std::isfinite(v)) return expand(element.from_bits, {{'0', hex_bits(value)}});
  return finite(dialect, element, v, t == DType::f64 ? 17 : 9);
}

}  // namespace rlx::emit_source
