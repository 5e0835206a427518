// Small transpositions in registers of 16 bytes, which every x86-64 has; other processors get what the compiler makes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rlx::cpu {

using Four = std::uint32_t __attribute__((vector_size(16)));
using Two = std::uint64_t __attribute__((vector_size(16)));
/// to[j * width + i] = from[i][j] ^ flip, for as many rows as a register has words.
inline void transpose(const std::byte* const* from, std::uint32_t flip, std::uint32_t* to, int width) {
  Four r[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&r[i], from[i], 16);
  const Four a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  const Four c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  const Four f = {flip, flip, flip, flip};
  const Four t[4] = {__builtin_shufflevector(a, b, 0, 1, 4, 5) ^ f, __builtin_shufflevector(a, b, 2, 3, 6, 7) ^ f,
                     __builtin_shufflevector(c, d, 0, 1, 4, 5) ^ f, __builtin_shufflevector(c, d, 2, 3, 6, 7) ^ f};
  for (int j = 0; j < 4; ++j) std::memcpy(to + j * width, &t[j], 16);
}
inline void transpose(const std::byte* const* from, std::uint32_t, std::uint64_t* to, int width) {
  Two r[2];
  for (int i = 0; i < 2; ++i) std::memcpy(&r[i], from[i], 16);
  const Two t[2] = {__builtin_shufflevector(r[0], r[1], 0, 2), __builtin_shufflevector(r[0], r[1], 1, 3)};
  for (int j = 0; j < 2; ++j) std::memcpy(to + j * width, &t[j], 16);
}

using Sixteen = std::uint8_t __attribute__((vector_size(16)));
using Eight = std::uint16_t __attribute__((vector_size(16)));
/// 16 lanes of 4 rows of bytes: to[4 * i + e] = from[e][i] ^ flip.
inline void interleave4(const std::int8_t* const* from, unsigned char flip, std::int8_t* to) {
  Sixteen r[4];
  for (int e = 0; e < 4; ++e) {
    std::memcpy(&r[e], from[e], 16);
    r[e] ^= flip;
  }
  const auto low = [](Sixteen a, Sixteen b) {
    return reinterpret_cast<Eight>(
        __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  };
  const auto high = [](Sixteen a, Sixteen b) {
    return reinterpret_cast<Eight>(
        __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
  };
  const Eight a = low(r[0], r[1]), b = low(r[2], r[3]), c = high(r[0], r[1]), d = high(r[2], r[3]);
  const Eight t[4] = {__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11),
                      __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15),
                      __builtin_shufflevector(c, d, 0, 8, 1, 9, 2, 10, 3, 11),
                      __builtin_shufflevector(c, d, 4, 12, 5, 13, 6, 14, 7, 15)};
  std::memcpy(to, t, 64);
}

}  // namespace rlx::cpu
