// Cube root: a third of the exponent by integer arithmetic (Kahan's trick), three steps of Halley's iteration, and a
// last step of Newton's whose residual is exact to twice the precision.
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

V rsqrt(V x) { return 1.0 / sqrt(x); }

V cbrt(V x) {
  const bool wide = is_f64(x);
  Ir& ir = *x.ir;
  V a = abs(x);
  const V tiny = lt(a, wide ? 2.2250738585072014e-308 : 1.17549435082228750797e-38);
  const V huge = gt(a, wide ? 1e300 : 1e36);  // whose triple overflows
  const double factor = wide ? 18014398509481984.0 : 16777216.0, root = wide ? 262144.0 : 256.0;  // 2^54, 2^24
  a = select(tiny, a * factor, select(huge, a * (1.0 / factor), a));
  // Exponent and leading mantissa bits, divided by 3 through a multiplication by 2^32 / 3.
  const V top = wide ? lshr(as_bits(a), 32) : resize_unsigned(as_bits(a), ir.i64);
  const V third = lshr(top * ir.integer(top.type(), 0x55555556), 32);
  const V guess = third + ir.integer(third.type(), wide ? 715094163 : 709958130);
  V r = as_float(wide ? shl(guess, 32) : resize_unsigned(guess, ir.i32));
  for (int step = 0; step < (wide ? 3 : 2); ++step) {
    const V cube = r * r * r;
    r = r * ((cube + a * 2.0) / (cube * 2.0 + a));
  }
  const V square = r * r;
  const V residual = fma(square, r, -a) + fma(fma(r, r, -square), r, number(r, 0.0));
  r = r - residual / (square * 3.0);
  r = select(tiny, r * (1.0 / root), select(huge, r * root, r));
  const V plain = gt(a, 0.0) & lt(a, infinity());
  return select(plain, copysign(r, x), x);  // zeros, infinities, NaN
}

}  // namespace rlx::emit_llvm::math
