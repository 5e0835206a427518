// Errors of the emitted functions against MPFR on samples that are dense in exponent and around each function's special
// places. RLX_FULL_MATH=1 takes 2^22 of them instead of 2^14.
#include "kernel_program.hpp"
#include "math_cases.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace rlx::testing_kernels {
namespace {

template <class T>
T random_bits(std::mt19937_64& g) {
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<T>(static_cast<U>(g()));
}

std::int64_t sample_count() { return std::getenv("RLX_FULL_MATH") ? 1 << 22 : 1 << 14; }

template <class T>
std::vector<T> samples(const MathCase& c) {
  std::mt19937_64 g(7);
  std::uniform_real_distribution<double> inside(c.low, c.high);
  std::vector<T> x = {0,
                      T(-0.0),
                      1,
                      -1,
                      std::numeric_limits<T>::infinity(),
                      -std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::max(),
                      -std::numeric_limits<T>::max()};
  while (static_cast<std::int64_t>(x.size()) < sample_count()) {
    x.push_back(static_cast<T>(inside(g)));
    x.push_back(random_bits<T>(g));
    // Near zeros and switches of method, which lie at round numbers and multiples of pi / 2.
    const double near = static_cast<double>(static_cast<int>(g() % 64) - 32) * (g() % 2 ? 0.25 : 1.5707963267948966);
    x.push_back(
        static_cast<T>(near * (1 + (static_cast<double>(g() % 1000) - 500) * std::numeric_limits<T>::epsilon())));
  }
  return x;
}

/// Distance in units of the last place of the exact value, as MPFR has it.
template <class T>
double ulps(T got, mpfr_srcptr exact, mpfr_srcptr unit = nullptr) {
  const T nearest =
      sizeof(T) == 4 ? static_cast<T>(mpfr_get_flt(exact, MPFR_RNDN)) : static_cast<T>(mpfr_get_d(exact, MPFR_RNDN));
  if (mpfr_nan_p(exact)) return std::isnan(got) ? 0 : 1e30;
  if (got == nearest) return 0;
  if (std::isnan(got)) return 1e30;
  if (std::isinf(got) || std::isinf(nearest)) {
    // One step beyond the largest number counts as one unit.
    const T largest = std::numeric_limits<T>::max();
    return std::fabs(got) >= largest && std::fabs(nearest) >= largest && std::signbit(got) == std::signbit(nearest)
               ? 1
               : 1e30;
  }
  int exponent = std::numeric_limits<T>::min_exponent;
  if (mpfr_regular_p(exact)) exponent = std::max<int>(exponent, static_cast<int>(mpfr_get_exp(exact)));
  if (unit && mpfr_regular_p(unit)) exponent = std::max<int>(exponent, static_cast<int>(mpfr_get_exp(unit)));
  mpfr_t d;
  mpfr_init2(d, 300);
  mpfr_set_d(d, static_cast<double>(got), MPFR_RNDN);
  mpfr_sub(d, d, exact, MPFR_RNDN);
  mpfr_mul_2si(d, d, std::numeric_limits<T>::digits - exponent, MPFR_RNDN);
  const double r = std::fabs(mpfr_get_d(d, MPFR_RNDN));
  mpfr_clear(d);
  return r;
}

template <class T>
std::vector<T> evaluate_math(emit_llvm::Isa isa, const char* op, const std::vector<T>& x,
                             const std::vector<T>* y = nullptr) {
  const DType t = sizeof(T) == 4 ? DType::f32 : DType::f64;
  const auto n = static_cast<std::int64_t>(x.size());
  Program p;
  std::vector<Value> buffers = {p.buffer(t, n), p.buffer(t, n), p.buffer(t, n)};
  p.kernel({n}, buffers, 1, [&](const Body& k) {
    const Value a = k.load(0, k.index[0]);
    k.store(2, k.index[0], y ? k.op(op, {a, k.load(1, k.index[0])}) : k.op(op, {a}));
  });
  HostTensor in(t, {n}), other(t, {n}), out(t, {n});
  std::copy(x.begin(), x.end(), in.as_mutable<T>().begin());
  if (y) std::copy(y->begin(), y->end(), other.as_mutable<T>().begin());
  const auto device = device_of(isa, 2);
  const auto result = run(*device, p.graph(), {in, other, out});
  const auto values = result[2].as<T>();
  return {values.begin(), values.end()};
}

template <class T>
void measure_math(const MathCase& c, double limit) {
  const std::vector<T> x = samples<T>(c);
  const std::vector<T> got = evaluate_math<T>(emit_llvm::best_host_isa(), c.op, x);
  double worst = 0;
  T where = 0;
  mpfr_t a, y, unit;
  mpfr_inits2(200, a, y, unit, static_cast<mpfr_ptr>(nullptr));
  for (std::size_t i = 0; i < x.size(); ++i) {
    mpfr_set_d(a, static_cast<double>(x[i]), MPFR_RNDN);
    c.exact(y, a, MPFR_RNDN);
    if (c.unit) c.unit(unit, a, MPFR_RNDN);
    const double e = ulps(got[i], y, c.unit ? unit : nullptr);
    if (e > worst) {
      worst = e;
      where = x[i];
    }
    if (mpfr_zero_p(y)) {
      ASSERT_EQ(got[i], 0) << c.op << " at " << x[i];
      const bool negative = mpfr_signbit(y);
      EXPECT_EQ(std::signbit(got[i]), negative) << c.op << " of " << x[i] << " has the wrong zero";
    }
  }
  mpfr_clears(a, y, unit, static_cast<mpfr_ptr>(nullptr));
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  ::testing::Test::RecordProperty(std::string(c.op) + "_" + type, std::to_string(worst));
  std::printf("  %-6s %s worst %.3f ulp at %.17g\n", c.op, type.c_str(), worst, static_cast<double>(where));
  EXPECT_LE(worst, limit) << c.op << " " << type << " at " << where;
}

TEST(MathAccuracy, UnaryF32) {
  for (const MathCase& c : math_cases) measure_math<float>(c, c.f32_ulp);
}
TEST(MathAccuracy, UnaryF64) {
  for (const MathCase& c : math_cases) measure_math<double>(c, c.f64_ulp);
}

using MpfrBinary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

template <class T>
void measure_pair(const char* op, MpfrBinary exact, double low, double high, double limit) {
  std::mt19937_64 g(11);
  std::uniform_real_distribution<double> base(0, 4), exponent(low, high);
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T special[] = {0,
                       T(-0.0),
                       1,
                       -1,
                       2,
                       -2,
                       T(0.5),
                       T(-0.5),
                       3,
                       -3,
                       inf,
                       -inf,
                       nan,
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::max()};
  std::vector<T> x, y;
  for (T a : special)
    for (T b : special) x.push_back(a), y.push_back(b);
  while (static_cast<std::int64_t>(x.size()) < sample_count()) {
    x.push_back(static_cast<T>(base(g))), y.push_back(static_cast<T>(exponent(g)));
    x.push_back(random_bits<T>(g)), y.push_back(random_bits<T>(g));
    x.push_back(static_cast<T>(-base(g))), y.push_back(static_cast<T>(std::round(exponent(g))));
    x.push_back(static_cast<T>(1 + (base(g) - 2) * 1e-3)), y.push_back(static_cast<T>(exponent(g) * 1000));
  }
  const std::vector<T> got = evaluate_math<T>(emit_llvm::best_host_isa(), op, x, &y);
  double worst = 0;
  std::size_t where = 0;
  mpfr_t a, b, r;
  mpfr_inits2(200, a, b, r, static_cast<mpfr_ptr>(nullptr));
  for (std::size_t i = 0; i < x.size(); ++i) {
    mpfr_set_d(a, static_cast<double>(x[i]), MPFR_RNDN);
    mpfr_set_d(b, static_cast<double>(y[i]), MPFR_RNDN);
    exact(r, a, b, MPFR_RNDN);
    const double e = ulps(got[i], r);
    if (e > worst) {
      worst = e;
      where = i;
    }
    const bool negative = mpfr_signbit(r);
    if (mpfr_zero_p(r)) { EXPECT_EQ(std::signbit(got[i]), negative) << op << "(" << x[i] << ", " << y[i] << ")"; }
  }
  mpfr_clears(a, b, r, static_cast<mpfr_ptr>(nullptr));
  std::printf("  %-6s %s worst %.3f ulp at %.17g, %.17g\n", op, sizeof(T) == 4 ? "f32" : "f64", worst,
              static_cast<double>(x[where]), static_cast<double>(y[where]));
  EXPECT_LE(worst, limit) << op << "(" << x[where] << ", " << y[where] << ")";
}

TEST(MathAccuracy, PowF32) { measure_pair<float>("pow", mpfr_pow, -60, 60, 1.5); }
TEST(MathAccuracy, PowF64) { measure_pair<double>("pow", mpfr_pow, -300, 300, 2); }
TEST(MathAccuracy, Atan2F32) { measure_pair<float>("atan2", mpfr_atan2, -4, 4, 2.5); }
TEST(MathAccuracy, Atan2F64) { measure_pair<double>("atan2", mpfr_atan2, -4, 4, 4); }

// The formulas use no operation whose result depends on the lane count or the instruction level.
TEST(MathAccuracy, SameBitsAtEveryLevel) {
  for (const MathCase& c : math_cases) {
    std::vector<float> x = samples<float>(c);
    std::vector<double> z = samples<double>(c);
    x.resize(4001), z.resize(4001);
    std::vector<float> first;
    std::vector<double> first64;
    for (emit_llvm::Isa isa : host_levels()) {
      const auto y = evaluate_math<float>(isa, c.op, x);
      const auto w = evaluate_math<double>(isa, c.op, z);
      if (first.empty()) first = y, first64 = w;
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(std::isnan(first[i]) ||
                    std::bit_cast<std::uint32_t>(first[i]) == std::bit_cast<std::uint32_t>(y[i]))
            << c.op << "(" << x[i] << ") " << name(isa);
        ASSERT_TRUE(std::isnan(first64[i]) ||
                    std::bit_cast<std::uint64_t>(first64[i]) == std::bit_cast<std::uint64_t>(w[i]))
            << c.op << "(" << z[i] << ") " << name(isa);
      }
    }
  }
}

}  // namespace
}  // namespace rlx::testing_kernels
