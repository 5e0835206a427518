// Elements as unsigned numbers in their order, so that one integer sort serves all types.
#pragma once
#include <rlx/ir/dtype.hpp>

#include <cstdint>
#include <cstring>

namespace rlx::cpu {

/// -0 and 0 give one key. NaN gives the greatest, in either direction; `nan_first` gives it the least instead.
class SortKeys {
 public:
  SortKeys(DType t, bool descending, bool nan_first = false)
      : bits_(bit_width(t)),
        floating_(is_floating(t)),
        mask_(bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_) - 1),
        sign_(is_floating(t) || is_signed_integer(t) ? std::uint64_t{1} << (bits_ - 1) : 0),
        flip_(descending ? mask_ : 0),
        nan_(nan_first ? 0 : mask_),
        greatest_(greatest_magnitude(t)),
        sign_alone_is_nan_(t == DType::f8e4m3fnuz || t == DType::f8e5m2fnuz) {}

  int bits() const { return bits_; }
  std::uint64_t key(std::uint64_t v) const {
    if (!floating_) return (v ^ sign_) ^ flip_;
    const std::uint64_t magnitude = v & ~sign_;
    if (magnitude > greatest_ || (sign_alone_is_nan_ && v == sign_)) return nan_;
    return (magnitude == 0 ? sign_ : v & sign_ ? v ^ mask_ : v | sign_) ^ flip_;
  }

 private:
  /// Bits of infinity, or of the greatest number where there is none: what is above is NaN.
  static std::uint64_t greatest_magnitude(DType t) {
    switch (t) {
      case DType::f16:
        return 0x7c00;
      case DType::bf16:
        return 0x7f80;
      case DType::f32:
        return 0x7f800000;
      case DType::f64:
        return 0x7ff0000000000000;
      case DType::f8e4m3fn:
        return 0x7e;
      case DType::f8e5m2:
        return 0x7c;
      default:
        return 0x7f;
    }
  }
  int bits_;
  bool floating_;
  std::uint64_t mask_, sign_, flip_, nan_, greatest_;
  bool sign_alone_is_nan_;
};

/// Bits of element `i` of a packed row-major array.
template <int width>
std::uint64_t element_bits(const void* data, std::int64_t i) {
  if constexpr (width == 4) return static_cast<const std::uint8_t*>(data)[i / 2] >> (i % 2 * 4) & 15u;
  else if constexpr (width == 8) return static_cast<const std::uint8_t*>(data)[i];
  else if constexpr (width == 16) return static_cast<const std::uint16_t*>(data)[i];
  else if constexpr (width == 32) return static_cast<const std::uint32_t*>(data)[i];
  else return static_cast<const std::uint64_t*>(data)[i];
}

/// Calls f<width>() for a width of 4, 8, 16, 32 or 64 bits.
template <class F>
void with_width(int bits, F f) {
  switch (bits) {
    case 4:
      return f.template operator()<4>();
    case 8:
      return f.template operator()<8>();
    case 16:
      return f.template operator()<16>();
    case 32:
      return f.template operator()<32>();
    default:
      return f.template operator()<64>();
  }
}

}  // namespace rlx::cpu
