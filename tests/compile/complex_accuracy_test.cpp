// Errors of the emitted complex functions, relative to the modulus of the result, against the C library's in long
// double, on samples of all sizes and near the unit circle and the axes. Special values are the business of
// scalar_coverage_test.cpp.
#include "kernel_program.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <random>

namespace rlx::testing_kernels {
namespace {

using Exact = std::complex<long double>;

struct ComplexCase {
  const char* op;
  Exact (*exact)(Exact z);
  int spread;  ///< Exponents of the parts come from [-spread, min(spread, top)].
  int top;
};

Exact expm1_exact(Exact z) {
  const long double half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, std::exp(z.real()) * std::sin(z.imag())};
}
Exact log1p_exact(Exact z) {
  const long double a = z.real(), b = z.imag(), e = a * (2 + a) + b * b;
  return {std::fabs(e) < 0.5L ? std::log1p(e) / 2 : std::log(std::hypot(1 + a, b)), std::atan2(b, 1 + a)};
}

const ComplexCase complex_cases[] = {{"exp", [](Exact z) { return std::exp(z); }, 900, 9},
                                     {"expm1", expm1_exact, 900, 9},
                                     {"log", [](Exact z) { return std::log(z); }, 1020, 1023},
                                     {"log1p", log1p_exact, 500, 500},
                                     {"sqrt", [](Exact z) { return std::sqrt(z); }, 1060, 1023},
                                     {"sin", [](Exact z) { return std::sin(z); }, 900, 9},
                                     {"cos", [](Exact z) { return std::cos(z); }, 900, 9},
                                     {"tan", [](Exact z) { return std::tan(z); }, 900, 9},
                                     {"sinh", [](Exact z) { return std::sinh(z); }, 900, 9},
                                     {"cosh", [](Exact z) { return std::cosh(z); }, 900, 9},
                                     {"tanh", [](Exact z) { return std::tanh(z); }, 900, 9},
                                     {"sign", [](Exact z) { return z / std::abs(z); }, 1020, 1023},
                                     {"abs", [](Exact z) { return Exact(std::abs(z)); }, 1060, 1022}};

void measure_complex(const ComplexCase& c, DType t, double limit) {
  const std::int64_t n = 1 << 14;
  const bool wide = t == DType::c128;
  const int spread = wide ? c.spread : std::min(c.spread, 120),
            top = wide ? c.top : std::min(c.top, c.top == 9 ? 6 : 126);
  std::mt19937_64 g(21);
  std::uniform_real_distribution<double> unit(-1, 1), near(-4, 4), exponent(-spread, std::min(spread, top));
  HostTensor x(t, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    const double angle = near(g), off = 1 + unit(g) * std::ldexp(1.0, -static_cast<int>(g() % 50));
    auto any_size = [&] { return std::ldexp(unit(g), static_cast<int>(exponent(g))); };
    switch (i % 5) {
      case 0:
        x.set_c128(i, {near(g), near(g)});
        break;
      case 1:
        x.set_c128(i, {any_size(), any_size()});
        break;
      case 2:
        x.set_c128(i, {unit(g) * (wide ? 720 : 90), near(g)});
        break;
      case 3:
        x.set_c128(i, {off * std::cos(angle), off * std::sin(angle)});
        break;
      default:
        x.set_c128(i, g() % 2 ? std::complex<double>(near(g), any_size()) : std::complex<double>(any_size(), near(g)));
    }
  }
  const bool real = std::string_view(c.op) == "abs";
  const DType out = real ? real_of(t) : t;
  Program p;
  std::vector<Value> b = {p.buffer(t, n), p.buffer(out, n)};
  p.kernel({n}, b, 1, [&](const Body& k) { k.store(1, k.index[0], k.op(c.op, {k.load(0, k.index[0])})); });
  const auto r = run(*device_of(emit_llvm::best_host_isa()), p.graph(), {x, HostTensor(out, {n})});
  const long double epsilon = std::ldexp(1.0L, wide ? -53 : -24),
                    smallest =
                        wide ? std::numeric_limits<double>::denorm_min() : std::numeric_limits<float>::denorm_min();
  const long double largest = wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  long double worst = 0;
  std::complex<double> where;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::complex<double> z = x.get_c128(i), got = real ? std::complex<double>(r[1].get_f64(i)) : r[1].get_c128(i);
    const Exact want = c.exact({z.real(), z.imag()});
    if (!(std::abs(want) < largest / 2)) continue;
    const long double error = std::hypot(got.real() - want.real(), got.imag() - want.imag());
    const long double units = std::max(0.0L, error - smallest) / (epsilon * std::abs(want) + smallest);
    if (!(units <= worst)) {
      worst = units;
      where = z;
    }
    if (std::isnan(worst)) break;
  }
  std::printf("  %-6s %s worst %.3Lf half units at (%.17g, %.17g)\n", c.op, wide ? "c128" : "c64", worst, where.real(),
              where.imag());
  EXPECT_LE(worst, limit) << c.op << " at " << where;
}

TEST(ComplexAccuracy, C64) {
  for (const ComplexCase& c : complex_cases) measure_complex(c, DType::c64, 2);
}
TEST(ComplexAccuracy, C128) {
  for (const ComplexCase& c : complex_cases) measure_complex(c, DType::c128, 12);
}

}  // namespace
}  // namespace rlx::testing_kernels
