// Vectors of RLX_LANES floats, by the compiler's vector types, for files that are compiled for one instruction level.
// All in an unnamed namespace: no function here may be shared between levels.
#pragma once
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

constexpr int lanes = RLX_LANES;
typedef float Floats __attribute__((vector_size(4 * RLX_LANES)));
typedef std::int32_t Ints __attribute__((vector_size(4 * RLX_LANES)));

inline Floats load(const float* p) {
  Floats v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline Ints load(const std::int32_t* p) {
  Ints v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Floats v) { __builtin_memcpy(p, &v, sizeof v); }
inline void store(std::int32_t* p, Ints v) { __builtin_memcpy(p, &v, sizeof v); }
inline Floats all(float x) { return x - Floats{}; }
inline Ints all(std::int32_t x) { return x - Ints{}; }
inline Floats lane_numbers() {
  Floats x{};
  for (int i = 0; i < lanes; ++i) x[i] = static_cast<float>(i);
  return x;
}
inline Floats bits(Ints x) { return reinterpret_cast<Floats>(x); }
inline Ints bits(Floats x) { return reinterpret_cast<Ints>(x); }
inline Floats magnitude(Floats x) { return bits(bits(x) & 0x7fffffff); }
inline Ints truncated(Floats x) { return __builtin_convertvector(x, Ints); }
inline Floats as_floats(Ints x) { return __builtin_convertvector(x, Floats); }

// Masks: one bit a lane where the processor has registers for them, else a vector of zeros and ones. Comparisons with
// NaN are false. Contraction is written out: the compiler makes none, so that both directions decide alike.
#if RLX_LANES == 16
using Mask = __mmask16;
inline __m512 native(Floats x) { return reinterpret_cast<__m512>(x); }
inline Mask less(Floats a, Floats b) { return _mm512_cmp_ps_mask(native(a), native(b), _CMP_LT_OQ); }
inline Mask at_most(Floats a, Floats b) { return _mm512_cmp_ps_mask(native(a), native(b), _CMP_LE_OQ); }
inline Mask less(Ints a, Ints b) {
  return _mm512_cmplt_epi32_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
}
inline Mask both(Mask a, Mask b) { return a & b; }
inline bool any(Mask m) { return m != 0; }
inline Floats choose(Mask m, Floats yes, Floats no) {
  return reinterpret_cast<Floats>(_mm512_mask_mov_ps(native(no), m, native(yes)));
}
inline Floats keep(Mask m, Floats x) { return reinterpret_cast<Floats>(_mm512_maskz_mov_ps(m, native(x))); }
inline Floats fma(Floats a, Floats b, Floats c) {
  return reinterpret_cast<Floats>(_mm512_fmadd_ps(native(a), native(b), native(c)));
}
inline Floats root(Floats x) { return reinterpret_cast<Floats>(_mm512_maskz_sqrt_ps(0xffff, native(x))); }
#else
using Mask = Ints;
inline Mask less(Floats a, Floats b) { return a < b; }
inline Mask at_most(Floats a, Floats b) { return a <= b; }
inline Mask less(Ints a, Ints b) { return a < b; }
inline Mask both(Mask a, Mask b) { return a & b; }
inline Floats choose(Mask m, Floats yes, Floats no) { return m ? yes : no; }
inline Floats keep(Mask m, Floats x) { return bits(m & bits(x)); }
#if defined(__AVX2__)
inline __m256 native(Floats x) { return reinterpret_cast<__m256>(x); }
inline bool any(Mask m) { return _mm256_movemask_ps(native(bits(m))) != 0; }
inline Floats fma(Floats a, Floats b, Floats c) {
  return reinterpret_cast<Floats>(_mm256_fmadd_ps(native(a), native(b), native(c)));
}
inline Floats root(Floats x) { return reinterpret_cast<Floats>(_mm256_sqrt_ps(native(x))); }
#else
inline bool any(Mask m) {
  std::int32_t set = 0;
  for (int i = 0; i < lanes; ++i) set |= m[i];
  return set != 0;
}
inline Floats fma(Floats a, Floats b, Floats c) { return a * b + c; }
inline Floats root(Floats x) {
  for (int i = 0; i < lanes; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
}
#endif
#endif

inline Ints choose(Mask m, Ints yes, Ints no) { return bits(choose(m, bits(yes), bits(no))); }
inline Floats smaller(Floats a, Floats b) { return choose(less(a, b), a, b); }
inline Floats larger(Floats a, Floats b) { return choose(less(b, a), a, b); }

/// Pairwise, so that its shape is that of the lanes alone: halves are added until one lane is left. Not as a loop,
/// which the compiler takes through memory.
inline float sum(Floats v) {
  typedef float Four __attribute__((vector_size(16)));
#if RLX_LANES == 16
  typedef float Eight __attribute__((vector_size(32)));
  const Eight eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                      __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
#elif RLX_LANES == 8
  const Floats eight = v;
#endif
#if RLX_LANES == 4
  const Four four = v;
#else
  const Four four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#endif
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/// exp(x) for x <= 88 within 2 ulp; 0 below -87 and for NaN.
inline Floats exponential(Floats x) {
  x = larger(x, all(-88.0f));
  // x = n ln 2 + r with |r| <= ln 2 / 2: rounding by a number whose last bit counts ones.
  const Floats magic = all(12582912.0f), n = fma(x, all(1.44269504f), magic) - magic;
  Floats r = fma(n, all(-0.693145752f), x);
  r = fma(n, all(-1.42860677e-6f), r);
  Floats p = all(1.0f / 720);
  p = fma(p, r, all(1.0f / 120));
  p = fma(p, r, all(1.0f / 24));
  p = fma(p, r, all(1.0f / 6));
  p = fma(p, r, all(0.5f));
  p = fma(p, r, all(1.0f));
  p = fma(p, r, all(1.0f));
  const Ints scale = (truncated(n) + 127) << 23;
  return keep(less(all(-87.0f), x), p * bits(scale));
}

}  // namespace
