// Reading and writing single elements of a HostTensor: the conversions between element types.
#include <rlx/ir/error.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace rlx {
namespace {

template <class T>
T load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void store(std::byte* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

/// Truncates towards zero; saturates; NaN gives 0.
template <class I>
I saturating(double v) {
  using Limits = std::numeric_limits<I>;
  // The power of two above the largest value is exact in a double; the largest value itself need not be.
  const double end = std::ldexp(1.0, Limits::digits);
  if (std::isnan(v)) return 0;
  if (v >= end) return Limits::max();
  if (v <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<I>(v);
}

/// An integer as a double whose rounding to a small float equals the integer's own. Beyond 2^53 the bits that a double
/// cannot hold are folded into one sticky bit below all that a small float keeps.
double sticky_double(std::uint64_t magnitude, bool negative) {
  if (magnitude >> 53) magnitude = (magnitude & ~std::uint64_t{0xFFF}) | ((magnitude & 0xFFF) ? 0x800 : 0);
  const auto v = static_cast<double>(magnitude);
  return negative ? -v : v;
}

}  // namespace

/// Calls `f` with the element at its full precision: double, complex<double>, int64 or uint64 (bool gives 0 or 1).
template <class F>
auto HostTensor::read(std::int64_t i, F f) const {
  check_index(i);
  const auto at = [&](std::int64_t size) { return data_ + i * size; };
  switch (dtype_) {
    case DType::f16:
      return f(f16_value(load<std::uint16_t>(at(2))));
    case DType::bf16:
      return f(bf16_value(load<std::uint16_t>(at(2))));
    case DType::f32:
      return f(static_cast<double>(load<float>(at(4))));
    case DType::f64:
      return f(load<double>(at(8)));
    case DType::c64:
      return f(std::complex<double>(load<float>(at(8)), load<float>(at(8) + 4)));
    case DType::c128:
      return f(std::complex<double>(load<double>(at(16)), load<double>(at(16) + 8)));
    case DType::i4: {
      const unsigned nibble = load<std::uint8_t>(data_ + i / 2) >> (i % 2 * 4) & 0xFu;
      return f(static_cast<std::int64_t>(nibble ^ 8u) - 8);
    }
    case DType::i8:
      return f(std::int64_t{load<std::int8_t>(at(1))});
    case DType::i16:
      return f(std::int64_t{load<std::int16_t>(at(2))});
    case DType::i32:
      return f(std::int64_t{load<std::int32_t>(at(4))});
    case DType::i64:
      return f(load<std::int64_t>(at(8)));
    case DType::u8:
      return f(std::uint64_t{load<std::uint8_t>(at(1))});
    case DType::u16:
      return f(std::uint64_t{load<std::uint16_t>(at(2))});
    case DType::u32:
      return f(std::uint64_t{load<std::uint32_t>(at(4))});
    case DType::u64:
      return f(load<std::uint64_t>(at(8)));
    case DType::boolean:
      return f(std::uint64_t{load<std::uint8_t>(at(1)) != 0});
    default:
      return f(f8_value(dtype_, load<std::uint8_t>(at(1))));
  }
}

double HostTensor::get_f64(std::int64_t i) const { return get_c128(i).real(); }

std::complex<double> HostTensor::get_c128(std::int64_t i) const {
  return read(i, []<class T>(T v) -> std::complex<double> {
    if constexpr (std::is_same_v<T, std::complex<double>>) return v;
    else return static_cast<double>(v);
  });
}

std::int64_t HostTensor::get_i64(std::int64_t i) const {
  return read(i, []<class T>(T v) -> std::int64_t {
    if constexpr (std::is_same_v<T, std::int64_t>) return v;
    else if constexpr (std::is_same_v<T, std::uint64_t>)
      return static_cast<std::int64_t>(std::min<std::uint64_t>(v, INT64_MAX));
    else return saturating<std::int64_t>(std::real(v));
  });
}

std::uint64_t HostTensor::get_u64(std::int64_t i) const {
  return read(i, []<class T>(T v) -> std::uint64_t {
    if constexpr (std::is_same_v<T, std::uint64_t>) return v;
    else if constexpr (std::is_same_v<T, std::int64_t>) return static_cast<std::uint64_t>(std::max<std::int64_t>(v, 0));
    else return saturating<std::uint64_t>(std::real(v));
  });
}

void HostTensor::store_bits(std::int64_t i, std::uint64_t bits) {
  std::byte* base = mutable_data();
  if (dtype_ == DType::i4) {
    const int shift = static_cast<int>(i % 2) * 4;
    const auto old = load<std::uint8_t>(base + i / 2);
    store(base + i / 2, static_cast<std::uint8_t>((old & ~(0xF << shift)) | (bits & 0xF) << shift));
    return;
  }
  const int size = bit_width(dtype_) / 8;
  std::memcpy(base + i * size, &bits, static_cast<std::size_t>(size));  // little endian: the low bytes are the value
}

void HostTensor::set_f64(std::int64_t i, double v) {
  check_index(i);
  std::uint64_t bits;
  switch (dtype_) {
    case DType::c64:
    case DType::c128:
      return set_c128(i, v);
    case DType::f16:
      bits = f16_bits(v);
      break;
    case DType::bf16:
      bits = bf16_bits(v);
      break;
    case DType::f32:
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(v));
      break;
    case DType::f64:
      bits = std::bit_cast<std::uint64_t>(v);
      break;
    case DType::boolean:
      bits = v != 0;
      break;
    case DType::u64:
      bits = saturating<std::uint64_t>(v);
      break;
    case DType::i64:
      bits = static_cast<std::uint64_t>(saturating<std::int64_t>(v));
      break;
    default:
      bits = is_integer(dtype_) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(round_to(dtype_, v)))
                                : f8_bits(dtype_, v);
  }
  store_bits(i, bits);
}

void HostTensor::set_c128(std::int64_t i, std::complex<double> v) {
  check_index(i);
  if (dtype_ == DType::c64) {
    const float parts[2] = {static_cast<float>(v.real()), static_cast<float>(v.imag())};
    std::memcpy(mutable_data() + i * 8, parts, 8);
  } else if (dtype_ == DType::c128) {
    const double parts[2] = {v.real(), v.imag()};
    std::memcpy(mutable_data() + i * 16, parts, 16);
  } else if (dtype_ == DType::boolean) {
    store_bits(i, v != 0.0);
  } else {
    set_f64(i, v.real());
  }
}

template <class I>
void HostTensor::set_integer(std::int64_t i, I v) {
  check_index(i);
  if (dtype_ == DType::boolean) return store_bits(i, v != 0);
  if (is_integer(dtype_)) return store_bits(i, static_cast<std::uint64_t>(v));
  if (real_of(dtype_) == DType::f32)
    return set_c128(i, static_cast<float>(v));  // one rounding, not one by way of double
  if (real_of(dtype_) == DType::f64) return set_c128(i, static_cast<double>(v));
  const bool negative = v < I{0};
  set_f64(i, sticky_double(negative ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v),
                           negative));
}

void HostTensor::set_i64(std::int64_t i, std::int64_t v) { set_integer(i, v); }
void HostTensor::set_u64(std::int64_t i, std::uint64_t v) { set_integer(i, v); }

}  // namespace rlx
