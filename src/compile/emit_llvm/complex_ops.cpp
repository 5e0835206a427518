// Operators on complex numbers. Sums and products are plain; every other operator runs in f64, see math/complex.hpp.
#include "compile/emit_llvm/elementwise.hpp"

namespace rlx::emit_llvm {

Complex complex_multiply(Complex a, Complex b) { return math::multiply(a, b); }

namespace {

/// -i f(i z), the way from hyperbolic to circular sines and tangents.
Complex turned(Complex (*f)(Complex), Complex z) {
  const Complex w = f({-z.im, z.re});
  return {w.im, -w.re};
}

struct ComplexUnary {
  std::string_view name;
  Complex (*apply)(Complex);
};
constexpr ComplexUnary complex_unary_table[] = {
    {"abs", [](Complex z) { return Complex{math::modulus(z), {}}; }},
    {"sign", math::sign},
    {"exp", math::exp},
    {"expm1", math::expm1},
    {"log", math::log},
    {"log1p", math::log1p},
    {"sqrt", math::sqrt},
    {"rsqrt", [](Complex z) { return math::divide({number(z.re, 1.0), number(z.re, 0.0)}, math::sqrt(z)); }},
    {"sinh", math::sinh},
    {"cosh", math::cosh},
    {"tanh", math::tanh},
    {"sin", [](Complex z) { return turned(math::sinh, z); }},
    {"cos", [](Complex z) { return math::cosh({-z.im, z.re}); }},
    {"tan", [](Complex z) { return turned(math::tanh, z); }}};

Complex widened(Complex z) { return {to_f64(z.re), to_f64(z.im)}; }

/// Absent parts where there is no such operator.
Complex in_f64(std::string_view op, std::span<const Complex> x) {
  if (x.size() == 1) {
    for (const ComplexUnary& e : complex_unary_table)
      if (e.name == op) return e.apply(widened(x[0]));
  } else if (x.size() == 2) {
    if (op == "div") return math::divide(widened(x[0]), widened(x[1]));
    if (op == "pow") return math::pow(widened(x[0]), widened(x[1]));
  }
  return {};
}

}  // namespace

Complex complex_operator(std::string_view op, std::span<const Complex> x, bool& done) {
  const Complex a = x[0];
  if (x.size() == 1) {
    if (op == "neg") return {-a.re, -a.im};
    if (op == "conj") return {a.re, -a.im};
    if (op == "real") return {a.re, {}};
    if (op == "imag") return {a.im, {}};
  } else if (x.size() == 2) {
    const Complex b = x[1];
    if (op == "add") return {a.re + b.re, a.im + b.im};
    if (op == "sub") return {a.re - b.re, a.im - b.im};
    if (op == "mul") return math::multiply(a, b);
  } else if (x.size() == 3 && op == "fma") {
    const Complex p = math::multiply(a, x[1]);
    return {p.re + x[2].re, p.im + x[2].im};
  }
  Complex r = in_f64(op, x);
  done = static_cast<bool>(r.re);
  if (!done || is_f64(a.re)) return r;
  r.re = to_f32(r.re);
  if (r.im) r.im = to_f32(r.im);
  return r;
}

}  // namespace rlx::emit_llvm
