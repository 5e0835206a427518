#include "half_rows.hpp"

#include <rlx/ir/dtype.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rlx::cpu {
namespace {

// Scaled by 2^112 the bits of an f16, subnormals included, are those of an f32.
float widened(std::uint16_t v) {
  const std::uint32_t sign = static_cast<std::uint32_t>(v & 0x8000u) << 16,
                      magnitude = static_cast<std::uint32_t>(v & 0x7fffu) << 13;
  const std::uint32_t scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const std::uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;  // infinity and NaN
  return std::bit_cast<float>(scaled | special | sign);
}

#if defined(__x86_64__)
bool has_instructions() {
  static const bool has = __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
  return has;
}
__attribute__((target("avx,f16c"))) std::int64_t widen_eights(const std::uint16_t* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  return i;
}
__attribute__((target("avx,f16c"))) std::int64_t round_eights(const float* from, std::uint16_t* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}
#else
bool has_instructions() { return false; }
std::int64_t widen_eights(const std::uint16_t*, float*, std::int64_t) { return 0; }
std::int64_t round_eights(const float*, std::uint16_t*, std::int64_t) { return 0; }
#endif

}  // namespace

void widen_f16(const std::uint16_t* from, float* to, std::int64_t n) {
  for (std::int64_t i = has_instructions() ? widen_eights(from, to, n) : 0; i < n; ++i) to[i] = widened(from[i]);
}
void round_f16(const float* from, std::uint16_t* to, std::int64_t n) {
  for (std::int64_t i = has_instructions() ? round_eights(from, to, n) : 0; i < n; ++i)
    to[i] = f16_bits(static_cast<double>(from[i]));
}

}  // namespace rlx::cpu
