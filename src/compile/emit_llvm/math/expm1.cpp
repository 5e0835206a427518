// expm1(x) = 2^n (expm1(r) + 1) - 1: the constant is formed exactly, so that nothing cancels near zero.
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

V expm1(V x) {
  const bool wide = is_f64(x);
  const double lowest = wide ? -40.0 : -20.0, highest = wide ? 710.0 : 89.0;
  V y = select(lt(x, lowest), lowest, x);
  y = select(gt(y, highest), highest, y);
  const Rounded n = round_scaled(y, 1.4426950408889634);
  V r = fma(n.real, -ln2(x).high, y);
  r = fma(n.real, -ln2(x).low, r);
  const V q =
      wide ? polynomial(r, {0.5, 0.16666666666666677, 0.041666666666666706, 0.008333333333320656, 0.001388888888886517,
                            0.0001984126988889242, 2.480158736392663e-05, 2.7557241164334204e-06, 2.755723983887565e-07,
                            2.5110178861962447e-08, 2.09253536916246e-09})
           : polynomial(r, {0.5, 0.166665375, 0.0416662507, 0.00836724415, 0.0013948445});
  const V p = fma(r * r, q, r);
  // Half of 2^n, since 2^n itself may overflow where the result does not.
  const V s = power_of_two(n.bits - 1);
  const V result = fma(s, p, s - 0.5) * 2.0;
  return select(eq(x, 0.0), x, result);  // keeps -0
}

}  // namespace rlx::emit_llvm::math
