#include "compile/emit_llvm/math/complex.hpp"
#include "compile/emit_llvm/math/parts.hpp"

namespace rlx::emit_llvm::math {

namespace {

V is_infinite(V x) { return eq(abs(x), infinity()); }
V not_finite(V x) { return ~lt(abs(x), infinity()); }
Complex choose(V condition, Complex yes, Complex no) {
  return {select(condition, yes.re, no.re), select(condition, yes.im, no.im)};
}

/// `otherwise`, and in lanes where `condition` holds what `then` gives; it runs only if there are such lanes.
Complex where_any(V condition, Complex otherwise, const std::function<Complex()>& then) {
  Ir& ir = *condition.ir;
  const LLVMBasicBlockRef from = ir.here(), rare = ir.block("special"), join = ir.block("usual");
  ir.branch(any(condition), rare, join);
  ir.at(rare);
  const Complex z = choose(condition, then(), otherwise);
  const LLVMBasicBlockRef last = ir.here();
  ir.jump(join);
  ir.at(join);
  const Complex r{ir.phi(z.re.type()), ir.phi(z.im.type())};
  Ir::incoming(r.re, otherwise.re, from), Ir::incoming(r.re, z.re, last);
  Ir::incoming(r.im, otherwise.im, from), Ir::incoming(r.im, z.im, last);
  return r;
}

/// z times a power of two that keeps sums of the parts' squares' roots from overflow and subnormal ones precise.
struct Scaled {
  Complex z;
  V huge, tiny;
};
Scaled scaled(Complex z) {
  const V a = abs(z.re), b = abs(z.im), high = select(gt(b, a), b, a);
  const V huge = gt(high, 0x1p1020), tiny = lt(high, 0x1p-960);
  const V by = select(huge, number(a, 0x1p-4), select(tiny, number(a, 0x1p108), 1.0));
  return {{z.re * by, z.im * by}, huge, tiny};
}

/// |z|^2 - 1 to twice the precision, rounded to a pair; parts below 2 in size.
Pair excess(V a, V b, V minus_one) {
  const V over = gt(abs(b), abs(a));
  const V x = select(over, b, a), y = select(over, a, b);
  const V p = x * x, p_low = fma(x, x, -p), q = y * y, q_low = fma(y, y, -q);
  const V d = p + minus_one, d_low = p - (d - minus_one);  // exact where p is in [1/2, 2]; else good to p's precision
  const V s = d + q, t = s - d, s_low = (d - (s - t)) + (q - t);
  return {s, s_low + (p_low + q_low + d_low)};
}

/// log(1 + e) / 2.
V half_log1p(Pair e) {
  const V s = e.high + e.low, u = s + 1.0;
  const V lost = ((s - (u - 1.0)) + ((e.high - s) + e.low)) / u;
  return select(eq(s, 0.0), s, log_of(log_parts(u), lost)) * 0.5;
}

/// log |z| for every z.
V log_modulus(Complex z) {
  const Scaled s = scaled(z);
  const V m = modulus(s.z);
  V r = log(m);
  r = r + select(s.huge, number(m, 2.772588722239781), select(s.tiny, number(m, -74.8598955004741), 0.0));
  const V near = gt(m, 0.75) & lt(m, 1.3) & ~s.tiny;
  const V one = number(m, -1.0);
  return select(near, half_log1p(excess(select(near, z.re, 1.0), select(near, z.im, 0.0), one)), r);
}

/// Where e^x is infinite or 0 and the angle has none of its functions, annex G has them 1, or leaves them NaN.
struct Turn {
  V c, s;
};
Turn turn(V x, V y) {
  const V lost = is_infinite(x) & not_finite(y);
  return {select(lost, 1.0, cos(y)),
          select(eq(y, 0.0), y, select(lost & lt(x, 0.0), copysign(number(y, 1.0), y), sin(y)))};
}

/// factor * e^(x + i y). e^x alone may overflow where the products do not, so powers come last, in two steps for large
/// x.
Complex turned_exp(V x, V y, double factor) {
  const V large = gt(x, 700.0);
  const ExpParts e = exp_parts(select(large, x - 700.0, x));
  const Turn t = turn(x, y);
  V p = e.p * factor;
  p = select(eq(x, -infinity()), 0.0, select(eq(x, infinity()), infinity(), p));  // where exp_parts stays finite
  const V rest = select(large, number(p, 1.0142320547350045e304), 1.0);           // e^700
  return {scale(p * t.c, e.n) * rest, select(eq(y, 0.0), y, scale(p * t.s, e.n) * rest)};
}

/// Of sinh and cosh, in lanes where the factors overflow but the products may not: e^|x| / 2 at this angle.
Complex far_out(Complex z, Complex near) {
  return where_any(gt(abs(z.re), 700.0), near, [&] { return turned_exp(abs(z.re), z.im, 0.5); });
}

}  // namespace

V modulus(Complex z) {
  const V a = abs(z.re), b = abs(z.im);
  const V over = gt(b, a);
  const V high = select(over, b, a), low = select(over, a, b);
  const V ratio = low / select(eq(high, 0.0), number(high, 1.0), high);
  const V size = high * sqrt(fma(ratio, ratio, 1.0));
  return select(eq(a, infinity()) | eq(b, infinity()), infinity(), select(is_nan(a) | is_nan(b), a + b, size));
}

Complex sign(Complex z) {
  const V m = modulus(z), zero = eq(m, 0.0), d = select(zero, number(m, 1.0), m);
  const V nan = is_nan(z.re) | is_nan(z.im);
  return {select(nan, quiet_nan(), z.re / d), select(nan, quiet_nan(), z.im / d)};
}

Complex exp(Complex z) { return turned_exp(z.re, z.im, 1); }

Complex expm1(Complex z) {
  // e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y / 2)
  const Complex e = exp(z);
  const V half = sin(z.im * 0.5);
  const V re = fma(expm1(z.re), cos(z.im), half * half * -2.0);
  const V plain = gt(z.re, 40.0) | not_finite(z.re) | not_finite(z.im);
  return {select(plain, e.re - 1.0, re), e.im};
}

Complex log(Complex z) { return {log_modulus(z), atan2(z.im, z.re)}; }

Complex log1p(Complex z) {
  // |1 + z|^2 - 1 = (2 a + a^2) + b^2
  const V a = z.re, b = z.im, u = a + 1.0;
  const V near = lt(abs(a), 0.5) & lt(abs(b), 0.5);
  const V x = select(near, a, 0.0), y = select(near, b, 0.0);
  const V p = x * x, q = y * y, twice = x * 2.0;
  const V s = p + q, s_low = (select(gt(p, q), q - (s - p), p - (s - q)) + fma(x, x, -p)) + fma(y, y, -q);
  const V t = twice + s, v = t - twice, t_low = (twice - (t - v)) + (s - v);
  return {select(near, half_log1p({t, t_low + s_low}), log_modulus({u, b})), atan2(b, u)};
}

Complex sqrt(Complex z) {
  const Scaled s = scaled(z);
  const V a = abs(s.z.re);
  const V t = sqrt((modulus(s.z) + a) * 0.5);
  const V root = select(s.huge, number(a, 4.0), select(s.tiny, number(a, 0x1p-54), 1.0));
  const V ratio = abs(s.z.im) / select(eq(t, 0.0), number(t, 1.0), t * 2.0);
  const V endless = is_infinite(z.im);  // with any real part, NaN too
  const V large = select(endless, infinity(), t * root), small = select(endless, infinity(), ratio * root);
  const V left = lt(as_bits(z.re), 0.0) & ~is_nan(z.re);
  return {select(left, small, large), copysign(select(left, large, small), z.im)};
}

// Both for |re|, whose sign then goes to the odd part.
Complex sinh(Complex z) {
  const V x = abs(z.re), sign = copysign(number(x, 1.0), z.re);
  const Turn t = turn(x, z.im);
  const Complex w = far_out(z, {sinh(x) * t.c, cosh(x) * t.s});
  return {select(eq(x, 0.0), z.re, w.re * sign), select(eq(z.im, 0.0), z.im, w.im)};
}

Complex cosh(Complex z) {
  const V x = abs(z.re), sign = copysign(number(x, 1.0), z.re);
  const Turn t = turn(x, z.im);
  const Complex w = far_out(z, {cosh(x) * t.c, sinh(x) * t.s});
  const V flat = eq(z.im, 0.0) | (eq(x, 0.0) & not_finite(z.im));
  return {w.re, sign * select(flat, copysign(number(x, 0.0), z.im), w.im)};
}

Complex tanh(Complex z) {
  // (sinh 2x + i sin 2y) / (cosh 2x + cos 2y), written so that nothing overflows (W. Kahan, Branch cuts for complex
  // elementary functions, 1987).
  const V t = tan(z.im), s = sinh(z.re), beta = fma(t, t, 1.0);
  const V rho = sqrt(fma(s, s, 1.0)), d = fma(beta * s, s, 1.0);
  const V far = gt(abs(z.re), 150.0);
  const V sign = select(not_finite(z.im), copysign(number(s, 1.0), z.im), t);
  const V im = select(eq(z.im, 0.0), z.im, t / d);
  return {select(far, copysign(number(s, 1.0), z.re), select(eq(z.re, 0.0), z.re, beta * rho * s / d)),
          select(far, sign * 0.0, im)};
}

Complex multiply(Complex a, Complex b) { return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)}; }

Complex divide(Complex x, Complex y) {
  // Smith's division (Algorithm 116, CACM 1962): scales by the larger part of the divisor.
  const V steep = gt(abs(y.im), abs(y.re));
  const V big = select(steep, y.im, y.re), small = select(steep, y.re, y.im);
  const V ratio = small / big, scale = fma(small, ratio, big);
  const V a = select(steep, x.im, x.re), b = select(steep, -x.re, x.im);
  // steep: ((re r + im) + i (im r - re)) / scale, else ((re + im r) + i (im - re r)) / scale.
  const V c = select(steep, x.re, x.im), d = select(steep, x.im, -x.re);
  const Complex r{fma(c, ratio, a) / scale, fma(d, ratio, b) / scale};
  return where_any(is_nan(r.re) & is_nan(r.im), r, [&] {
    // Annex G: a nonzero number over zero and an infinity over a finite number are infinite, a finite number over an
    // infinity 0.
    const V zero = eq(y.re, 0.0) & eq(y.im, 0.0) & ~(is_nan(x.re) & is_nan(x.im));
    const V endless = copysign(number(y.re, infinity()), y.re);
    auto unit = [](V v) { return copysign(select(is_infinite(v), number(v, 1.0), 0.0), v); };
    const V x_infinite = is_infinite(x.re) | is_infinite(x.im), y_infinite = is_infinite(y.re) | is_infinite(y.im);
    const V x_finite = ~(not_finite(x.re) | not_finite(x.im)), y_finite = ~(not_finite(y.re) | not_finite(y.im));
    const V up = x_infinite & y_finite, down = y_infinite & x_finite;
    const Complex p{select(up, unit(x.re), x.re), select(up, unit(x.im), x.im)};
    const Complex q{select(up, y.re, unit(y.re)), select(up, y.im, unit(y.im))};
    const V factor = select(up, number(p.re, infinity()), 0.0);
    const Complex turned{factor * (p.re * q.re + p.im * q.im), factor * (p.im * q.re - p.re * q.im)};
    return choose(zero, {endless * x.re, endless * x.im}, choose(up | down, turned, r));
  });
}

Complex pow(Complex x, Complex y) {
  const Complex r = exp(multiply(y, log(x)));
  const V zero = eq(x.re, 0.0) & eq(x.im, 0.0) & gt(y.re, 0.0), none = eq(y.re, 0.0) & eq(y.im, 0.0);
  return {select(none, 1.0, select(zero, 0.0, r.re)), select(none | zero, 0.0, r.im)};
}

}  // namespace rlx::emit_llvm::math
