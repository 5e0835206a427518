// exp by reduction to |r| <= ln(2) / 2 (Cody and Waite, Software Manual for the Elementary Functions, 1980) and a
// polynomial.
#include "compile/emit_llvm/avx512.hpp"
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

Rounded round_scaled(V x, double factor) {
  const double magic = is_f64(x) ? 6755399441055744.0 : 12582912.0;
  const V t = fma(x, factor, magic);
  return {t - magic, as_bits(t) - as_bits(number(x, magic))};
}
Rounded round_small(V x) { return round_scaled(x, 1.0); }

V power_of_two(V n) {
  const int width = Ir::bits(n.type());
  return as_float(width == 64 ? shl(n + 1023, 52) : shl(n + 127, 23));
}

V scale(V x, Rounded n) {
  if (const V y = avx512::scale(x, n.real)) return y;
  // Halves of the exponent with the bias of two exponents, which leaves no sign to care for.
  const bool wide = is_f64(x);
  const int mantissa = wide ? 52 : 23;
  const V both = n.bits + (wide ? 2 * 1023 : 2 * 127), half = lshr(both, 1);
  return x * as_float(shl(half, mantissa)) * as_float(shl(both - half, mantissa));
}

namespace {
Rounded powers_in(V x) { return round_scaled(x, 1.4426950408889634); }
/// x + low - n ln 2.
V without_powers(V x, V low, Rounded n) {
  V r = fma(n.real, -ln2(x).high, x);
  r = fma(n.real, -ln2(x).low, r);
  return low ? r + low : r;
}
/// exp(r) for |r| up to a little above ln(2) / 2.
V exp_near_zero(V r) {
  return is_f64(r) ? polynomial(r, {1.0, 1.0, 0.5000000000000014, 0.16666666666666702, 0.04166666666650303,
                                    0.008333333333305225, 0.0013888888950553807, 0.00019841269921712742,
                                    2.4801486028680778e-05, 2.7557212410235247e-06, 2.763275312374721e-07,
                                    2.5119097919839984e-08})
                   : polynomial(r, {1.0, 1.0, 0.5, 0.166665122, 0.0416661873, 0.00836959947, 0.00139516254});
}
/// exp_parts of x that is not so large that its n is out of range.
ExpParts moderate_parts(V x, V low) {
  const Rounded n = powers_in(x);
  return {exp_near_zero(without_powers(x, low, n)), n};
}
}  // namespace

ExpParts exp_parts(V x, V low) {
  const bool wide = is_f64(x);
  const double lowest = wide ? -746.0 : -105.0, highest = wide ? 712.0 : 91.0;  // half of exp(highest) overflows
  x = select(lt(x, lowest), lowest, x);
  x = select(gt(x, highest), highest, x);  // NaN passes both
  return moderate_parts(x, low);
}

V exp(V x) { return exp_scaled(x, 0); }
V exp_scaled(V x, int shift) {
  const auto shifted = [&](Rounded n) { return shift ? Rounded{n.real + shift, n.bits + shift} : n; };
  if (x.ir->isa == Isa::avx512) {
    // The instruction that scales takes any n, an infinite one and a NaN too. Where n is so large that it is not the
    // nearest integer, or no number, n alone decides, as long as what is left of x is a small number.
    const Rounded n = powers_in(x);
    return scale(exp_near_zero(avx512::nearer_zero(without_powers(x, {}, n), 0.5)), shifted(n));
  }
  const auto anywhere = [&] {
    const ExpParts e = exp_parts(x);
    return scale(e.p, shifted(e.n));
  };
  // Without an instruction that scales, a quarter less to do where all results, and their halves, are normal numbers:
  // nothing is clamped, and the exponent is added as an integer.
  const V large = any(~le(abs(x), is_f64(x) ? 707.0 : 86.0));
  const ExpParts e = moderate_parts(x, {});
  const V normal = as_float(as_bits(e.p) + shl(shifted(e.n).bits, is_f64(x) ? 52 : 23));
  return x.ir->if_rarely(large, normal, anywhere);
}

}  // namespace rlx::emit_llvm::math
