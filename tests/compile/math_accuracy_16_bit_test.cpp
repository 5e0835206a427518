// The emitted functions of every f16 and every bf16 against MPFR.
#include "kernel_program.hpp"
#include "math_cases.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <cstdint>

namespace rlx::testing_kernels {
namespace {

struct Narrow {
  DType type;
  int digits, min_exponent, max_exponent;  ///< As std::numeric_limits counts them.
};
constexpr Narrow f16{DType::f16, 11, -13, 16}, bf16{DType::bf16, 8, -125, 128};

/// Distance in units of the last place of the exact value; the first number too large for the type counts as infinity.
double ulps_of(const Narrow& t, double got, mpfr_srcptr exact, mpfr_srcptr unit) {
  constexpr double wrong = 1e30;
  if (mpfr_nan_p(exact) || std::isnan(got)) return mpfr_nan_p(exact) && std::isnan(got) ? 0 : wrong;
  const bool beyond = mpfr_inf_p(exact) || mpfr_get_exp(exact) > t.max_exponent;
  if (std::isinf(got)) {
    if (std::signbit(got) != (mpfr_signbit(exact) != 0)) return wrong;
    if (beyond) return 0;
    got = std::copysign(std::ldexp(1.0, t.max_exponent), got);
  } else if (beyond) return wrong;
  int exponent = t.min_exponent;
  if (mpfr_regular_p(exact)) exponent = std::max<int>(exponent, static_cast<int>(mpfr_get_exp(exact)));
  if (unit && mpfr_regular_p(unit)) exponent = std::max<int>(exponent, static_cast<int>(mpfr_get_exp(unit)));
  mpfr_t d;
  mpfr_init2(d, 300);
  mpfr_set_d(d, got, MPFR_RNDN);
  mpfr_sub(d, d, exact, MPFR_RNDN);
  mpfr_mul_2si(d, d, t.digits - exponent, MPFR_RNDN);
  const double r = std::fabs(mpfr_get_d(d, MPFR_RNDN));
  mpfr_clear(d);
  return r;
}

HostTensor every_code(DType t) {
  HostTensor x(t, {1 << 16});
  for (std::size_t i = 0; i < 1 << 16; ++i) x.as_mutable<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
  return x;
}

// A function is computed in f32 and rounded: half a unit of the narrow type, and the f32 error in such units.
void measure(const Narrow& t, const MathCase& c) {
  const HostTensor x = every_code(t.type);
  const std::int64_t n = x.numel();
  Program p;
  std::vector<Value> buffers = {p.buffer(t.type, n), p.buffer(t.type, n)};
  p.kernel({n}, buffers, 1, [&](const Body& k) { k.store(1, k.index[0], k.op(c.op, {k.load(0, k.index[0])})); });
  const HostTensor got = run(*device_of(emit_llvm::best_host_isa(), 2), p.graph(), {x, HostTensor(t.type, {n})})[1];
  const double limit = 0.5 + std::ldexp(c.f32_ulp, t.digits - 24);
  mpfr_t a, y, unit;
  mpfr_inits2(100, a, y, unit, static_cast<mpfr_ptr>(nullptr));
  double worst = 0, where = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    mpfr_set_d(a, x.get_f64(i), MPFR_RNDN);
    c.exact(y, a, MPFR_RNDN);
    if (c.unit) c.unit(unit, a, MPFR_RNDN);
    const double e = ulps_of(t, got.get_f64(i), y, c.unit ? unit : nullptr);
    if (e > worst) worst = e, where = x.get_f64(i);
    const bool negative = mpfr_signbit(y);
    if (mpfr_zero_p(y)) { EXPECT_EQ(std::signbit(got.get_f64(i)), negative) << c.op << " of " << x.get_f64(i); }
  }
  mpfr_clears(a, y, unit, static_cast<mpfr_ptr>(nullptr));
  std::printf("  %-7s %s worst %.4f ulp at %.9g, limit %.4f\n", c.op, std::string(name(t.type)).c_str(), worst, where,
              limit);
  EXPECT_LE(worst, limit) << c.op << " " << name(t.type) << " at " << where;
}

TEST(MathAccuracy, EveryF16) {
  for (const MathCase& c : math_cases) measure(f16, c);
}
TEST(MathAccuracy, EveryBf16) {
  for (const MathCase& c : math_cases) measure(bf16, c);
}

}  // namespace
}  // namespace rlx::testing_kernels
