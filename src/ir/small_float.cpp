// Conversions of the floats narrower than 32 bits. One rounding, straight from the double: going through f32 first
// would round twice and get ties wrong.
#include <rlx/ir/error.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace rlx {
namespace {

/// A binary format: sign, exponent field, `mantissa` bits. All finite magnitudes are the codes 0 to `max_finite`.
struct Format {
  int mantissa, bias;
  std::uint32_t sign, max_finite;
  std::uint32_t overflow;  ///< Code of a magnitude too large: infinity, or NaN where the format has none.
  std::uint32_t nan;
  bool fnuz;  ///< One zero and one NaN, neither of them signed.
};

constexpr Format f16_format{10, 15, 0x8000, 0x7BFF, 0x7C00, 0x7E00, false};
constexpr Format bf16_format{7, 127, 0x8000, 0x7F7F, 0x7F80, 0x7FC0, false};
constexpr Format e4m3fn_format{3, 7, 0x80, 0x7E, 0x7F, 0x7F, false};
constexpr Format e5m2_format{2, 15, 0x80, 0x7B, 0x7C, 0x7E, false};
constexpr Format e4m3fnuz_format{3, 8, 0x80, 0x7F, 0x80, 0x80, true};
constexpr Format e5m2fnuz_format{2, 16, 0x80, 0x7F, 0x80, 0x80, true};

/// Nearest integer of a nonnegative `x` below 2^52, ties to even. Not nearbyint: that follows the caller's rounding
/// mode.
std::int64_t nearest_even(double x) {
  const double floor = std::floor(x);
  const double rest = x - floor;  // exact
  const auto q = static_cast<std::int64_t>(floor);
  return q + (rest > 0.5 || (rest == 0.5 && (q & 1)));
}

std::uint32_t encode(const Format& f, double v) {
  const std::uint32_t sign = std::signbit(v) ? f.sign : 0;
  if (std::isnan(v)) return f.fnuz ? f.nan : f.nan | sign;
  if (std::isinf(v)) return f.fnuz ? f.overflow : f.overflow | sign;
  const double magnitude = std::fabs(v);
  const int min_exponent = 1 - f.bias;
  const int exponent = magnitude == 0 ? min_exponent : std::max(std::ilogb(magnitude), min_exponent);
  // In units of the last place. Scaling by a power of two is exact here: down only for values whose result is normal.
  const std::int64_t q = nearest_even(std::ldexp(magnitude, f.mantissa - exponent));
  // q contains the hidden bit of a normal number, so adding it also carries into the exponent when rounding overflows.
  const std::int64_t code = (std::int64_t{exponent - min_exponent} << f.mantissa) + q;
  if (code > f.max_finite) return f.fnuz ? f.overflow : f.overflow | sign;
  if (f.fnuz && code == 0) return 0;
  return static_cast<std::uint32_t>(code) | sign;
}

double decode(const Format& f, std::uint32_t bits) {
  if (f.fnuz && bits == f.nan) return std::numeric_limits<double>::quiet_NaN();
  const bool negative = bits & f.sign;
  const std::uint32_t code = bits & (f.sign - 1);
  double v;
  if (code > f.max_finite) {
    v = code == f.overflow && f.overflow != f.nan ? std::numeric_limits<double>::infinity()
                                                  : std::numeric_limits<double>::quiet_NaN();
  } else {
    const auto exponent = static_cast<int>(code >> f.mantissa);
    const std::uint32_t hidden = 1u << f.mantissa;
    const std::uint32_t fraction = code & (hidden - 1);
    v = exponent == 0 ? std::ldexp(fraction, 1 - f.bias - f.mantissa)
                      : std::ldexp(fraction | hidden, exponent - f.bias - f.mantissa);
  }
  return negative ? -v : v;
}

const Format& f8_format(DType t) {
  switch (t) {
    case DType::f8e4m3fn:
      return e4m3fn_format;
    case DType::f8e5m2:
      return e5m2_format;
    case DType::f8e4m3fnuz:
      return e4m3fnuz_format;
    case DType::f8e5m2fnuz:
      return e5m2fnuz_format;
    default:
      throw ArgumentError(std::string(name(t)) + " is not an f8 type");
  }
}

}  // namespace

std::uint16_t f16_bits(double v) { return static_cast<std::uint16_t>(encode(f16_format, v)); }
double f16_value(std::uint16_t bits) { return decode(f16_format, bits); }
std::uint16_t bf16_bits(double v) { return static_cast<std::uint16_t>(encode(bf16_format, v)); }
double bf16_value(std::uint16_t bits) { return decode(bf16_format, bits); }
std::uint8_t f8_bits(DType t, double v) { return static_cast<std::uint8_t>(encode(f8_format(t), v)); }
double f8_value(DType t, std::uint8_t bits) { return decode(f8_format(t), bits); }

double round_to(DType t, double v) {
  switch (t) {
    case DType::f64:
    case DType::c128:
      return v;
    case DType::f32:
    case DType::c64:
      return static_cast<float>(v);
    case DType::f16:
      return f16_value(f16_bits(v));
    case DType::bf16:
      return bf16_value(bf16_bits(v));
    case DType::boolean:
      return v != 0;
    default:
      break;
  }
  if (is_floating(t)) return f8_value(t, f8_bits(t, v));
  if (std::isnan(v)) return 0;
  // The upper limit of a 64-bit integer is not a double; it rounds up to the power of two, as its conversion would.
  const int bits = bit_width(t);
  const double low = is_unsigned_integer(t) ? 0.0 : -std::ldexp(1.0, bits - 1);
  const double high = std::ldexp(1.0, is_unsigned_integer(t) ? bits : bits - 1) - 1;
  return std::fmin(std::fmax(std::trunc(v), low), high) + 0.0;  // an integer has no -0
}

}  // namespace rlx
