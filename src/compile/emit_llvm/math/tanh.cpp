#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

V tanh(V x) {
  const V size = abs(x);
  if (is_f64(x)) {
    const V t = expm1(select(gt(size, 20.0), 20.0, size) * 2.0);
    return copysign(t / (t + 2.0), x);
  }
  const V z = x * x;
  const V small =
      fma(x * z, polynomial(z, {-0.333332807, 0.133313835, -0.0537340194, 0.0206181761, -0.00567935919}), x);
  const V large = 1.0 - 2.0 / (exp(size * 2.0) + 1.0);
  return copysign(select(lt(size, 0.625), small, large), x);  // the sign of -0 too
}

// Half of exp(|x|), which overflows only where the results do.
V sinh(V x) {
  const V size = abs(x), t = expm1(size);
  const V small = (t + t / (t + 1.0)) * 0.5;
  return copysign(select(lt(size, 20.0), small, exp_scaled(size, -1)), x);
}
V cosh(V x) {
  const V half = exp_scaled(abs(x), -1);
  return half + 0.25 / half;
}

}  // namespace rlx::emit_llvm::math
