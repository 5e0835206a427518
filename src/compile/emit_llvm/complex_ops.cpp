// Operators on complex numbers, from the real functions. Special values follow the formulas, not C99's annex G.
#include "compile/emit_llvm/elementwise.hpp"
#include "compile/emit_llvm/math/math.hpp"

namespace rlx::emit_llvm {

namespace {

/// |z| without overflow on the way: the larger part times sqrt(1 + ratio^2).
V magnitude(Complex z) {
  const V a = abs(z.re), b = abs(z.im);
  const V over = gt(b, a);
  const V high = select(over, b, a), low = select(over, a, b);
  const V ratio = low / select(eq(high, 0.0), number(high, 1.0), high);
  const V size = high * sqrt(fma(ratio, ratio, 1.0));
  const double inf = __builtin_inf();
  return select(eq(a, inf) | eq(b, inf), number(a, inf), select(is_nan(a) | is_nan(b), a + b, size));
}

/// Smith's division (Algorithm 116, CACM 1962): scales by the larger part of the divisor.
Complex divide(Complex x, Complex y) {
  const V steep = gt(abs(y.im), abs(y.re));
  const V big = select(steep, y.im, y.re), small = select(steep, y.re, y.im);
  const V ratio = small / big, scale = fma(small, ratio, big);
  const V a = select(steep, x.im, x.re), b = select(steep, -x.re, x.im);
  // steep: ((re r + im) + i (im r - re)) / scale, else ((re + im r) + i (im - re r)) / scale.
  const V c = select(steep, x.re, x.im), d = select(steep, x.im, -x.re);
  return {fma(c, ratio, a) / scale, fma(d, ratio, b) / scale};
}

Complex exponential(Complex z) {
  const V r = math::exp(z.re);
  const V im_zero = eq(z.im, 0.0);
  return {r * math::cos(z.im), select(im_zero, z.im, r * math::sin(z.im))};
}
Complex logarithm(Complex z) { return {math::log(magnitude(z)), math::atan2(z.im, z.re)}; }

Complex square_root(Complex z) {
  const V m = magnitude(z);
  const V t = sqrt((m + abs(z.re)) * 0.5);
  const V other = abs(z.im) / select(eq(t, 0.0), number(t, 1.0), t * 2.0);
  const V right = ge(z.re, 0.0);
  return {select(right, t, other), copysign(select(right, other, t), z.im)};
}

Complex hyperbolic_tangent(Complex z) {
  // (sinh 2x + i sin 2y) / (cosh 2x + cos 2y), written so that nothing overflows.
  const V t = math::tan(z.im), s = math::sinh(z.re), beta = fma(t, t, 1.0);
  const V rho = sqrt(fma(s, s, 1.0)), d = fma(beta * s, s, 1.0);
  const V far = gt(abs(z.re), is_f64(z.re) ? 300.0 : 40.0);
  return {select(far, copysign(number(s, 1.0), z.re), beta * rho * s / d), select(far, t * 0.0, t / d)};
}

}  // namespace

Complex complex_multiply(Complex a, Complex b) {
  return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}

Complex complex_operator(std::string_view op, std::span<const Complex> x, bool& done) {
  const Complex a = x[0];
  if (x.size() == 1) {
    if (op == "neg") return {-a.re, -a.im};
    if (op == "conj") return {a.re, -a.im};
    if (op == "real") return {a.re, {}};
    if (op == "imag") return {a.im, {}};
    if (op == "abs") return {magnitude(a), {}};
    if (op == "sign") {
      const V m = magnitude(a), zero = eq(m, 0.0), d = select(zero, number(m, 1.0), m);
      return {select(zero, a.re, a.re / d), select(zero, a.im, a.im / d)};
    }
    if (op == "exp") return exponential(a);
    if (op == "log") return logarithm(a);
    if (op == "sqrt") return square_root(a);
    if (op == "rsqrt") return divide({number(a.re, 1.0), number(a.re, 0.0)}, square_root(a));
    if (op == "expm1") {
      // e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y / 2)
      const V half = math::sin(a.im * 0.5), e = math::expm1(a.re);
      return {fma(e, math::cos(a.im), half * half * -2.0), math::exp(a.re) * math::sin(a.im)};
    }
    if (op == "log1p") return {math::log1p(a.re * 2.0 + fma(a.re, a.re, a.im * a.im)) * 0.5, math::atan2(a.im, a.re + 1.0)};
    if (op == "sin") return {math::sin(a.re) * math::cosh(a.im), math::cos(a.re) * math::sinh(a.im)};
    if (op == "cos") return {math::cos(a.re) * math::cosh(a.im), -(math::sin(a.re) * math::sinh(a.im))};
    if (op == "sinh") return {math::sinh(a.re) * math::cos(a.im), math::cosh(a.re) * math::sin(a.im)};
    if (op == "cosh") return {math::cosh(a.re) * math::cos(a.im), math::sinh(a.re) * math::sin(a.im)};
    if (op == "tanh") return hyperbolic_tangent(a);
    if (op == "tan") {
      const Complex t = hyperbolic_tangent({-a.im, a.re});
      return {t.im, -t.re};
    }
  } else if (x.size() == 2) {
    const Complex b = x[1];
    if (op == "add") return {a.re + b.re, a.im + b.im};
    if (op == "sub") return {a.re - b.re, a.im - b.im};
    if (op == "mul") return complex_multiply(a, b);
    if (op == "div") return divide(a, b);
    if (op == "pow") {
      const Complex l = logarithm(a), r = exponential(complex_multiply(b, l));
      const V zero = eq(a.re, 0.0) & eq(a.im, 0.0), none = eq(b.re, 0.0) & eq(b.im, 0.0);
      return {select(none, 1.0, select(zero, 0.0, r.re)), select(none, 0.0, select(zero, 0.0, r.im))};
    }
  } else if (x.size() == 3 && op == "fma") {
    const Complex p = complex_multiply(a, x[1]);
    return {p.re + x[2].re, p.im + x[2].im};
  }
  done = false;
  return {};
}

}  // namespace rlx::emit_llvm
