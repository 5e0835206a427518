// atan by two halvings of the range (Cephes' breakpoint tan(pi/8)) and an odd polynomial; asin and acos by the
// half-angle identity above one half.
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

namespace {
struct Pi {
  double high, low;
};
Pi pi(V x) {
  return is_f64(x) ? Pi{3.141592653589793, 1.2246467991473532e-16}
                   : Pi{3.1415927410125732421875, -8.7422776573475858e-8};
}
}  // namespace

V atan_ratio(V y, V x) {
  const V upper = gt(y, x * 0.41421356237309503);
  const V t = select(upper, y - x, y) / select(upper, y + x, x);
  const V z = t * t;
  const V p = is_f64(t)
                  ? polynomial(z, {-0.3333333333333333, 0.19999999999999885, -0.14285714285695372, 0.11111111109560697,
                                   -0.09090909015827217, 0.07692305350837564, -0.06666617187088973,
                                   0.058816231032933784, -0.052555340661043864, 0.047054187405585625,
                                   -0.0405438977360012, 0.029595595722876195, -0.012964621171359771})
                  : polynomial(z, {-0.333333164, 0.199984789, -0.142436311, 0.105942942, -0.0607889816});
  const V base = select(upper, number(t, pi(t).high / 4), 0.0), low = select(upper, number(t, pi(t).low / 4), 0.0);
  return base + (fma(t * z, p, low) + t);
}

V atan(V x) {
  const V size = abs(x), over = gt(size, 1.0);
  const V a = atan_ratio(select(over, 1.0, size), select(over, size, 1.0));
  return copysign(select(over, pi(x).high / 2 - (a - pi(x).low / 2), a), x);
}

V atan2(V y, V x) {
  V ax = abs(x), ay = abs(y);
  const V steep = gt(ay, ax);
  V near = select(steep, ay, ax), across = select(steep, ax, ay);
  // Sums of the two must not overflow; two zeros make the angle 0 and two infinities make it pi / 4.
  const V huge = gt(near, is_f64(x) ? 1e300 : 1e37);
  const V both_infinite = eq(across, infinity());
  near = select(huge, near * 0.125, near);
  across = select(huge, across * 0.125, across);
  near = select(both_infinite | eq(near, 0.0), 1.0, near);
  across = select(both_infinite, 1.0, across);
  V a = atan_ratio(across, near);
  const V left = lt(as_bits(x), 0.0);  // -0 counts as negative
  // 0 + a, pi / 2 - a, pi / 2 + a or pi - a: from the nearest axis.
  const V half = number(a, pi(x).high / 2), half_low = number(a, pi(x).low / 2);
  const V base = select(steep, half, half * 2.0), low = select(steep, half_low, half_low * 2.0);
  a = select(steep | left, base + (select(steep ^ left, -a, a) + low), a);
  return select(is_nan(x) | is_nan(y), x + y, copysign(a, y));
}

V asin_tail(V x, V z) {
  const V p = is_f64(x)
                  ? polynomial(z, {0.1666666666666666, 0.07500000000002574, 0.04464285713964032, 0.030381944647380674,
                                   0.02237215151238628, 0.017352947177541447, 0.013961847244363343, 0.01158623314817798,
                                   0.009480189253988202, 0.010028234979041688, 0.000619563205652908,
                                   0.02496518528731537, -0.02633066241239562, 0.033749346295352846})
                  : polynomial(z, {0.166667536, 0.0749522746, 0.0454791896, 0.0241359826, 0.0422403403});
  return x * z * p;
}

V asin(V x) {
  const V size = abs(x), small = le(size, 0.5);
  const V z = select(small, x * x, fma(size, -0.5, 0.5));
  const V s = select(small, size, sqrt(z));
  const V tail = asin_tail(s, z);
  // What sqrt rounded away: (z - s^2) / (2 s). Of pi/2 - 2 (s + tail + lost), pi/4 - 2 s is exact where it is small.
  const V lost = fma(-s, s, z) / select(eq(s, 0.0), 1.0, s * 2.0);
  const V rest = (tail + lost) * 2.0 - pi(x).low / 2;
  const V large = pi(x).high / 4 + ((pi(x).high / 4 - s * 2.0) - rest);
  return copysign(select(small, s + tail, large), x);
}

V acos(V x) {
  const V size = abs(x), small = le(size, 0.5);
  const V z = select(small, x * x, fma(size, -0.5, 0.5));
  const V s = select(small, x, sqrt(z));
  const V a = s + asin_tail(s, z);
  const V middle = pi(x).high / 2 - (a - pi(x).low / 2);
  const V right = a * 2.0, left = pi(x).high - (a * 2.0 - pi(x).low);
  return select(small, middle, select(lt(x, 0.0), left, right));
}

}  // namespace rlx::emit_llvm::math
