// The formats whose scales lie among the elements, and how their blocks become numbers. The GGUF kinds are those of
// ggml (block_* in ggml-common.h, dequantize_row_* in ggml-quants.c), the MX kinds those of the OCP Microscaling
// Formats specification 1.0, which leaves the order of bytes to the implementation: here the scale comes first, as in
// GGUF's MXFP4. Not here: kinds that need tables (IQ*), those that no file holds (Q8_1, Q8_K), and MXFP6.
#pragma once
#include "ops/structure.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace rlx::ops {

namespace block {

// A field of a block is u8[..., blocks, bytes]. What is made of it keeps the dimensions before the last.
inline std::int64_t length(Value x) { return x.shape().back().constant(); }
inline Shape with_last(Value x, std::initializer_list<std::int64_t> dims) {
  Shape s(x.shape().begin(), x.shape().end() - 1);
  s.insert(s.end(), dims.begin(), dims.end());
  return s;
}
inline Value number(Value like, double v) { return scalar(*like.builder, like.dtype(), v); }
inline Value f32_of(Value x) { return convert(x, DType::f32); }

inline Value bytes(Value block, std::int64_t from, std::int64_t count) {
  return slice_axis(block, block.rank() - 1, from, from + count);
}
/// An f16, low byte first, as f32[..., 1].
inline Value half(Value block, std::int64_t at) {
  const Value low = convert(bytes(block, at, 1), DType::u16), high = convert(bytes(block, at + 1, 1), DType::u16);
  return f32_of(bitcast(logical_or(low, shift_left(high, number(high, 8))), DType::f16));
}
inline Value masked(Value x, int bits) { return logical_and(x, number(x, (1 << bits) - 1)); }
inline Value down(Value x, int places) { return shift_right_logical(x, number(x, places)); }
inline Value up(Value x, int places) { return shift_left(x, number(x, places)); }

/// Numbers of `bits` bits, 8 / bits a byte. Each `group` bytes hold first all their lowest numbers, then all the next.
inline Value unpacked(Value x, int bits, std::int64_t group) {
  const std::int64_t count = length(x), each = 8 / bits;
  const Value places = iota(*x.builder, DType::u8, {each, 1}, 0) * bits;
  const Value moved = shift_right_logical(reshape(x, with_last(x, {count / group, 1, group})), places);
  return reshape(masked(moved, bits), with_last(x, {count * each}));
}

/// f32[..., groups] as f32[..., groups, 1], and x[..., n] as f32[..., groups, n / groups].
inline Value column(Value x) { return reshape(x, with_last(x, {length(x), 1})); }
inline Value grouped(Value x, std::int64_t groups) {
  return f32_of(reshape(x, with_last(x, {groups, length(x) / groups})));
}

// --- GGUF, blocks of 32.
inline Value q4_0(Value b) { return half(b, 0) * (f32_of(unpacked(bytes(b, 2, 16), 4, 16)) - 8); }
inline Value q4_1(Value b) { return half(b, 0) * f32_of(unpacked(bytes(b, 4, 16), 4, 16)) + half(b, 2); }
inline Value five_bits(Value high, Value low) {
  return f32_of(logical_or(unpacked(low, 4, 16), up(unpacked(high, 1, 1), 4)));
}
inline Value q5_0(Value b) { return half(b, 0) * (five_bits(bytes(b, 2, 4), bytes(b, 6, 16)) - 16); }
inline Value q5_1(Value b) { return half(b, 0) * five_bits(bytes(b, 4, 4), bytes(b, 8, 16)) + half(b, 2); }
inline Value q8_0(Value b) { return f32_of(bitcast(bytes(b, 2, 32), DType::i8)) * half(b, 0); }

// --- GGUF, super-blocks of 256 whose groups have quantized scales, and minima where there are two halves.
inline Value scaled_groups(Value d, Value scales, Value numbers) {
  return column(d * f32_of(scales)) * grouped(numbers, length(scales));
}
inline Value q2_k(Value b) {
  const Value both = bytes(b, 0, 16);
  return scaled_groups(half(b, 80), masked(both, 4), unpacked(bytes(b, 16, 64), 2, 32)) -
         column(half(b, 82) * f32_of(down(both, 4)));
}
inline Value q3_k(Value b) {
  const Value low = unpacked(bytes(b, 96, 8), 4, 8), high = unpacked(bytes(b, 104, 4), 2, 4);
  const Value scales = f32_of(logical_or(low, up(high, 4))) - 32;
  const Value numbers = logical_or(unpacked(bytes(b, 32, 64), 2, 32), up(unpacked(bytes(b, 0, 32), 1, 32), 2));
  return column(half(b, 108) * scales) * (grouped(numbers, 16) - 4);
}
/// Eight scales and eight minima of 6 bits in 12 bytes: the first four of each in 6 bits of a byte, of the others the
/// upper 2 bits above those, the lower 4 in the last bytes.
struct ScalesAndMinima {
  Value scales, minima;
};
inline ScalesAndMinima scales_and_minima(Value x) {
  const Value scales = bytes(x, 0, 4), minima = bytes(x, 4, 4), rest = bytes(x, 8, 4);
  const auto whole = [](Value first, Value lower) {
    return concat(Values{masked(first, 6), logical_or(lower, up(down(first, 6), 4))}, first.rank() - 1);
  };
  return {whole(scales, masked(rest, 4)), whole(minima, down(rest, 4))};
}
inline Value with_minima(Value b, Value numbers) {
  const auto [scales, minima] = scales_and_minima(bytes(b, 4, 12));
  return scaled_groups(half(b, 0), scales, numbers) - column(half(b, 2) * f32_of(minima));
}
inline Value q4_k(Value b) { return with_minima(b, unpacked(bytes(b, 16, 128), 4, 32)); }
inline Value q5_k(Value b) {
  return with_minima(b, logical_or(unpacked(bytes(b, 48, 128), 4, 32), up(unpacked(bytes(b, 16, 32), 1, 32), 4)));
}
inline Value q6_k(Value b) {
  const Value numbers = logical_or(unpacked(bytes(b, 0, 128), 4, 64), up(unpacked(bytes(b, 128, 64), 2, 32), 4));
  const Value scales = f32_of(bitcast(bytes(b, 192, 16), DType::i8));
  return column(half(b, 208) * scales) * (grouped(numbers, 16) - 32);
}

// --- MX: a scale of 8 exponent bits (E8M0), then 32 elements.
/// 2^(byte - 127), NaN where it is 255: the exponent bits of an f32, but for the least, which is subnormal.
inline Value mx_scale(Value b) {
  const Value e = convert(bytes(b, 0, 1), DType::u32);
  const auto where = [&](double is, double bits, Value otherwise) {
    return select(compare(e, number(e, is), Direction::eq), number(e, bits), otherwise);
  };
  return bitcast(where(255, 0x7fc00000, where(0, 0x00400000, up(e, 23))), DType::f32);
}
/// E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, as halves of whole numbers.
inline Value mxfp4(Value b) {
  const Value code = unpacked(bytes(b, 1, 16), 4, 16), size = masked(code, 3);
  const Value exponent = down(size, 1), mantissa = masked(size, 1), one = number(code, 1), two = number(code, 2);
  const Value doubled = select(compare(exponent, number(code, 0), Direction::eq), mantissa,
                               shift_left(add(mantissa, two), sub(exponent, one)));
  const Value value = f32_of(doubled) * 0.5;
  return mx_scale(b) * select(compare(code, number(code, 8), Direction::ge), neg(value), value);
}
inline Value mxfp8_e4m3(Value b) { return mx_scale(b) * f32_of(bitcast(bytes(b, 1, 32), DType::f8e4m3fn)); }
inline Value mxfp8_e5m2(Value b) { return mx_scale(b) * f32_of(bitcast(bytes(b, 1, 32), DType::f8e5m2)); }
inline Value mxint8(Value b) { return mx_scale(b) * (f32_of(bitcast(bytes(b, 1, 32), DType::i8)) * 0x1p-6); }

}  // namespace block

/// So many elements in so many bytes.
struct BlockFormat {
  std::string_view name;         ///< As types spell it: u8[4,18]{block=q4_0}.
  std::int64_t elements, bytes;  ///< Of a block.
  /// u8[..., blocks, bytes] to f32[..., blocks, dimensions of `elements` in all], in the format's own order of
  /// operations.
  Value (*decode)(Value blocks);
  std::string_view layout;  ///< For the manual: fields in order, and what an element is.
};

// f16 and u32 are little endian; "q" are unsigned numbers, of which a byte's low bits belong to an earlier element.
inline constexpr BlockFormat block_formats[] = {
    {"q4_0", 32, 18, block::q4_0, "f16 d, 16 bytes of 4-bit q: elements 0 to 15 low, 16 to 31 high. d * (q - 8)"},
    {"q4_1", 32, 20, block::q4_1, "f16 d, f16 m, q as in q4_0. d * q + m"},
    {"q5_0", 32, 22, block::q5_0, "f16 d, u32 of the fifth bits, q as in q4_0. d * (q - 16)"},
    {"q5_1", 32, 24, block::q5_1, "f16 d, f16 m, u32 of the fifth bits, q as in q4_0. d * q + m"},
    {"q8_0", 32, 34, block::q8_0, "f16 d, 32 i8 q. d * q"},
    {"q2_k", 256, 84, block::q2_k,
     "16 bytes (scale s low, minimum t high, of 16 elements each), 64 bytes of 2-bit q, 32 bytes after 32 bytes, f16 "
     "d, f16 e. (d * s) * q - (e * t)"},
    {"q3_k", 256, 110, block::q3_k,
     "32 bytes of the third bits, 64 bytes of 2-bit q as in q2_k, 12 bytes of 6-bit scales s of 16 elements each (low "
     "4 "
     "bits in 8 bytes, high 2 in 4), f16 d. (d * (s - 32)) * (q - 4)"},
    {"q4_k", 256, 144, block::q4_k,
     "f16 d, f16 e, 12 bytes of 6-bit scales s and minima t of 32 elements each, 128 bytes of 4-bit q, 32 bytes after "
     "32 bytes. (d * s) * q - (e * t)"},
    {"q5_k", 256, 176, block::q5_k,
     "as q4_k, with 32 bytes of the fifth bits before the others. (d * s) * q - (e * t)"},
    {"q6_k", 256, 210, block::q6_k,
     "128 bytes of the low 4 bits, 64 bytes after 64 bytes, 64 bytes of the high 2, 32 bytes after 32 bytes, 16 i8 "
     "scales s of 16 elements each, f16 d. (d * s) * (q - 32)"},
    {"mxfp4", 32, 17, block::mxfp4,
     "E8M0 scale, 16 bytes of E2M1 numbers: elements 0 to 15 low, 16 to 31 high (as GGUF has it). 2^(scale - 127) * "
     "element, NaN for scale 255"},
    {"mxfp8_e4m3", 32, 33, block::mxfp8_e4m3, "E8M0 scale, 32 f8e4m3fn. As mxfp4"},
    {"mxfp8_e5m2", 32, 33, block::mxfp8_e5m2, "E8M0 scale, 32 f8e5m2. As mxfp4"},
    {"mxint8", 32, 33, block::mxint8, "E8M0 scale, 32 i8, each a number of 64ths. As mxfp4"},
};

/// Null: there is none of that name.
inline const BlockFormat* find_block_format(std::string_view name) {
  const auto* at = std::ranges::find(block_formats, name, &BlockFormat::name);
  return at == std::end(block_formats) ? nullptr : at;
}

}  // namespace rlx::ops
