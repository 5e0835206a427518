// Cores that several functions of math.hpp share.
#pragma once
#include "compile/emit_llvm/math/math.hpp"

namespace rlx::emit_llvm::math {

/// ln 2 as the sum of two numbers of x's type.
struct Ln2 {
  double high, low;
};
inline Ln2 ln2(V x) {
  return is_f64(x) ? Ln2{0.6931471805599453, 2.3190468138462996e-17}
                   : Ln2{0.693147182464599609375, -1.904654299957768e-09};
}
inline double infinity() { return __builtin_inf(); }
inline double quiet_nan() { return __builtin_nan(""); }

/// The nearest integer to x as a float and as bits of the same width; |x| below 2^22 (f32) or 2^51 (f64). Adding
/// 1.5 * 2^(mantissa bits) leaves the integer in the low bits, and needs no rounding instruction.
struct Rounded {
  V real, bits;
};
Rounded round_small(V x);
Rounded round_scaled(V x, double factor);  ///< Of x * factor, with one rounding.

/// x * 2^n, rounded once, subnormal results too; n above minus twice the exponents' bias.
V scale(V x, Rounded n);
/// 2^n for n within the exponent range of normal numbers.
V power_of_two(V n);

/// exp(x + low) = p * 2^n with p in [0.7, 1.42]; x is clamped to where the result over- or underflows for certain.
struct ExpParts {
  V p;
  Rounded n;
};
ExpParts exp_parts(V x, V low = {});
/// exp(x) * 2^shift, overflowing only if that does.
V exp_scaled(V x, int shift);

/// x = 2^e (1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1); x positive and finite, may be subnormal.
struct LogParts {
  V f, e;
};
LogParts log_parts(V x);

/// A value in twice the precision, the unevaluated sum of the two.
struct Pair {
  V high, low;
};
/// log(2^e (1 + f)) + low.
V log_of(LogParts parts, V low = {});

/// x = (q + 4 k) pi / 2 + r + tail with |r| <= pi / 4; only the low two bits of q count.
struct TrigParts {
  V r, tail, q;
};
TrigParts reduce_half_pi(V x);
V sin_kernel(const TrigParts& t);
V cos_kernel(const TrigParts& t);
/// sin(pi x), and the cosine beside it, for f64 x; the sine is exactly 0 at integers. NaN where x is not finite.
V sin_pi(V x, V& cosine);

/// asin(x) - x for |x| <= 1/2, given x and x^2.
V asin_tail(V x, V z);
/// atan of numerator / denominator in [0, 1], plus a constant base, both non-negative.
V atan_ratio(V numerator, V denominator);

}  // namespace rlx::emit_llvm::math
