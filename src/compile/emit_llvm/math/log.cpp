// log by x = 2^e (1 + f) and log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f / (2 + f): the scheme of fdlibm's
// e_log.c (Sun Microsystems, 1993), which adds small corrections to an exact f.
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

LogParts log_parts(V x) {
  const bool wide = is_f64(x);
  const int mantissa = wide ? 52 : 23, bias = wide ? 1023 : 127;
  const double smallest = wide ? 2.2250738585072014e-308 : 1.17549435082228750797e-38;
  const V tiny = lt(x, smallest);
  x = select(tiny, x * (wide ? 18014398509481984.0 : 33554432.0), x);  // 2^54, 2^25
  // Adding the distance from sqrt(1/2) to 1 carries into the exponent where the mantissa exceeds sqrt(2).
  const std::int64_t one = wide ? 0x3ff0000000000000 : 0x3f800000, root = wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  const V i = as_bits(x);
  const V moved = i + i.ir->integer(i.type(), one - root);
  const V e = ashr(moved, mantissa) - bias;
  const V m = bits_and(moved, (std::int64_t{1} << mantissa) - 1) + i.ir->integer(i.type(), root);
  const V exponent = signed_to_float(e, Ir::element(x.type()));
  return {as_float(m) - 1.0, select(tiny, exponent - (wide ? 54.0 : 25.0), exponent)};
}

V log_of(LogParts p, V low) {
  const V f = p.f;
  const V s = f / (f + 2.0), z = s * s;
  const V r =
      z * (is_f64(f) ? polynomial(z, {0.6666666666666735, 0.3999999999940707, 0.2857142874424661, 0.2222219836659391,
                                      0.18183575831988025, 0.15313737576732253, 0.14799258545154678})
                     : polynomial(z, {0.666666627, 0.400003374, 0.285371631, 0.235851631}));
  const V half_square = f * f * 0.5;
  V small = fma(s, half_square + r, p.e * ln2(f).low);
  if (low) small = small + low;
  return fma(p.e, ln2(f).high, f - (half_square - small));
}

V log(V x) {
  V y = log_of(log_parts(x));
  y = select(gt(x, 0.0), y, select(eq(x, 0.0), number(x, -infinity()), quiet_nan()));  // NaN and negative
  return select(eq(x, infinity()), x, y);
}

V log1p(V x) {
  const V u = x + 1.0;
  // What rounding 1 + x lost, relative to u.
  const V lost = select(lt(x, 1.0), x - (u - 1.0), 1.0 - (u - x)) / u;
  V y = log_of(log_parts(u), lost);
  y = select(gt(u, 0.0), y, select(eq(u, 0.0), number(x, -infinity()), quiet_nan()));
  return select(eq(x, infinity()) | eq(x, 0.0), x, y);
}

}  // namespace rlx::emit_llvm::math
