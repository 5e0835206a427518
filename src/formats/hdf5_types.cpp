#include "hdf5_types.hpp"

namespace rlx::formats {

namespace {

struct FloatKind {
  DType dtype;
  std::size_t bytes, exponent_bits, bias;
};
constexpr FloatKind float_kinds[] = {{DType::f64, 8, 11, 1023}, {DType::f32, 4, 8, 127},    {DType::f16, 2, 5, 15},
                                     {DType::bf16, 2, 8, 127},  {DType::f8e4m3fn, 1, 4, 7}, {DType::f8e5m2, 1, 5, 15}};
hid_t make_float(const FloatKind& kind) {
  const hid_t t = H5Tcopy(H5T_IEEE_F32LE);
  if (kind.bytes == 4) return t;
  if (kind.bytes == 8) return H5Tclose(t), H5Tcopy(H5T_IEEE_F64LE);
  const std::size_t mantissa = 8 * kind.bytes - 1 - kind.exponent_bits;
  H5Tset_fields(t, 8 * kind.bytes - 1, mantissa, kind.exponent_bits, 0,
                mantissa);  // within f32's 32 bits, then narrowed
  H5Tset_size(t, kind.bytes);
  H5Tset_ebias(t, kind.bias);
  return t;
}

std::optional<DType> float_type(hid_t type) {
  std::size_t sign, exponent_at, exponent_bits, mantissa_at, mantissa_bits;
  if (H5Tget_fields(type, &sign, &exponent_at, &exponent_bits, &mantissa_at, &mantissa_bits) < 0) return std::nullopt;
  for (const FloatKind& kind : float_kinds)
    if (H5Tget_size(type) == kind.bytes && exponent_bits == kind.exponent_bits && sign == 8 * kind.bytes - 1 &&
        mantissa_at == 0 && mantissa_bits == exponent_at && exponent_at + exponent_bits == sign &&
        H5Tget_ebias(type) == kind.bias)
      return kind.dtype;
  return std::nullopt;
}

}  // namespace

Hdf5Handle hdf5_type(DType t) {
  if (is_complex(t)) {
    const Hdf5Handle part = hdf5_type(real_of(t));
    const std::size_t bytes = static_cast<std::size_t>(bit_width(t)) / 8;
    const hid_t pair = H5Tcreate(H5T_COMPOUND, bytes);
    H5Tinsert(pair, "r", 0, part);
    H5Tinsert(pair, "i", bytes / 2, part);
    return {pair, H5Tclose};
  }
  if (t == DType::boolean) {
    const hid_t values = H5Tenum_create(H5T_STD_I8LE);
    for (const std::int8_t v : {std::int8_t{0}, std::int8_t{1}}) H5Tenum_insert(values, v ? "TRUE" : "FALSE", &v);
    return {values, H5Tclose};
  }
  for (const FloatKind& kind : float_kinds)
    if (kind.dtype == t) return {make_float(kind), H5Tclose};
  const hid_t integer = H5Tcopy(is_signed_integer(t) ? H5T_STD_I8LE : H5T_STD_U8LE);
  H5Tset_precision(integer, static_cast<std::size_t>(bit_width(t)));  // and the size with it
  return {integer, H5Tclose};
}

std::optional<DType> dtype_of_hdf5(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return float_type(type);
    case H5T_INTEGER: {
      const std::size_t bits = 8 * H5Tget_size(type);
      if (H5Tget_precision(type) != bits) return std::nullopt;
      const bool has_sign = H5Tget_sign(type) != H5T_SGN_NONE;
      for (const DType t :
           {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64})
        if (static_cast<std::size_t>(bit_width(t)) == bits && is_signed_integer(t) == has_sign) return t;
      return std::nullopt;
    }
    case H5T_ENUM: {
      std::int8_t no = -1, yes = -1;
      if (H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2 || H5Tenum_valueof(type, "FALSE", &no) < 0 ||
          H5Tenum_valueof(type, "TRUE", &yes) < 0 || no != 0 || yes != 1)
        return std::nullopt;
      return DType::boolean;
    }
    case H5T_COMPOUND: {
      const int r = H5Tget_nmembers(type) == 2 ? H5Tget_member_index(type, "r") : -1;
      const int i = r >= 0 ? H5Tget_member_index(type, "i") : -1;
      if (i < 0) return std::nullopt;
      const Hdf5Handle real(H5Tget_member_type(type, static_cast<unsigned>(r)), H5Tclose);
      const Hdf5Handle imaginary(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose);
      const auto part = dtype_of_hdf5(real), other = dtype_of_hdf5(imaginary);
      if (part != other) return std::nullopt;
      return part == DType::f64   ? std::optional(DType::c128)
             : part == DType::f32 ? std::optional(DType::c64)
                                  : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace rlx::formats
