// References of the elementwise primitives against independent arithmetic, over whole small types where that is
// possible.
#include "elementwise_support.hpp"

#include <rlx/ops/build.hpp>

#include <bit>
#include <limits>

namespace rlx {
namespace {

using namespace elementwise_tests;
constexpr double inf = std::numeric_limits<double>::infinity();

// --- References against independent arithmetic.
/// One long double function an operator; what is missing here has tests of its own.
using Wide = long double (*)(long double);
const std::pair<std::string_view, Wide> libm[] = {{"exp", [](long double x) { return std::exp(x); }},
                                                  {"log", [](long double x) { return std::log(x); }},
                                                  {"expm1", [](long double x) { return std::expm1(x); }},
                                                  {"log1p", [](long double x) { return std::log1p(x); }},
                                                  {"sqrt", [](long double x) { return std::sqrt(x); }},
                                                  {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }},
                                                  {"cbrt", [](long double x) { return std::cbrt(x); }},
                                                  {"sin", [](long double x) { return std::sin(x); }},
                                                  {"cos", [](long double x) { return std::cos(x); }},
                                                  {"tan", [](long double x) { return std::tan(x); }},
                                                  {"asin", [](long double x) { return std::asin(x); }},
                                                  {"acos", [](long double x) { return std::acos(x); }},
                                                  {"atan", [](long double x) { return std::atan(x); }},
                                                  {"sinh", [](long double x) { return std::sinh(x); }},
                                                  {"cosh", [](long double x) { return std::cosh(x); }},
                                                  {"tanh", [](long double x) { return std::tanh(x); }},
                                                  {"erf", [](long double x) { return std::erf(x); }},
                                                  {"erfc", [](long double x) { return std::erfc(x); }},
                                                  {"lgamma", [](long double x) { return std::lgamma(x); }},
                                                  {"floor", [](long double x) { return std::floor(x); }},
                                                  {"ceil", [](long double x) { return std::ceil(x); }},
                                                  {"round", [](long double x) { return std::nearbyint(x); }},
                                                  {"neg", [](long double x) { return -x; }},
                                                  {"abs", [](long double x) { return std::fabs(x); }}};

TEST(ElementwiseValues, AllSmallFloatsAgreeWithLibm) {
  for (DType t : {DType::f16, DType::bf16}) {
    HostTensor x(t, {65536});
    for (int i = 0; i < 65536; ++i)
      x.as_mutable<std::uint16_t>()[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(i);
    for (const auto& [name, f] : libm) {
      const HostTensor y = call(name, {x});
      int wrong = 0;
      for (int i = 0; i < 65536; ++i) {
        const double got = y.get_f64(i), want = round_to(t, static_cast<double>(f(x.get_f64(i))));
        if (!same(got, want) && ++wrong == 1)
          ADD_FAILURE() << name << " of " << x.get_f64(i) << " is " << got << ", not " << want;
      }
      EXPECT_EQ(wrong, 0) << name << " in " << rlx::name(t);
    }
    for (std::string_view name : {"erfinv", "digamma"}) {
      const HostTensor y = call(name, {x});
      for (int i = 0; i < 65536; ++i) {
        const double v = x.get_f64(i);
        const bool domain =
            name == "erfinv" ? std::fabs(v) <= 1 : v == inf || (std::isfinite(v) && !(v < 0 && v == std::floor(v)));
        ASSERT_EQ(std::isnan(y.get_f64(i)), !domain) << name << " of " << v;
      }
    }
    for (std::string_view name : {"is_nan", "is_finite"}) {
      const HostTensor y = call(name, {x});
      for (int i = 0; i < 65536; ++i)
        ASSERT_EQ(y.get_i64(i), name == "is_nan" ? std::isnan(x.get_f64(i)) : std::isfinite(x.get_f64(i)))
            << name << " of " << x.get_f64(i);
    }
    const HostTensor sign = call("sign", {x});
    for (int i = 0; i < 65536; ++i) {
      const double v = x.get_f64(i), want = std::isnan(v) || v == 0 ? v : std::copysign(1, v);
      ASSERT_TRUE(same(sign.get_f64(i), want)) << v;
    }
  }
}

/// Computed with 60 digits by mpmath.
TEST(ElementwiseValues, SpecialFunctionsAreAccurate) {
  const auto check = [](std::string_view name, std::vector<std::pair<double, double>> points, double ulps) {
    for (const auto& [x, want] : points)
      EXPECT_NEAR(call(name, {HostTensor::scalar(DType::f64, x)}).get_f64(0), want, ulps * 0x1p-53 * std::fabs(want))
          << name << " of " << x;
  };
  check("erfinv",
        {{1e-12, 8.86226925452757996e-13},
         {1e-05, 8.86226925475959453e-6},
         {0.3, 0.272462714726754345},
         {0.49, 0.465868600235057337},
         {0.51, 0.488122050515958822},
         {0.9, 1.16308715367667416},
         {0.9999999, 3.76656258163847089},
         {0.9999999999999999, 5.86358474875516793},
         {0.9999999999990905, 5.05125408524938997},
         {-0.6, -0.595116081449994822}},
        4);
  check("digamma",
        {{1e-08, -100000000.577215646},
         {0.1, -10.4237549404110762},
         {0.9, -0.754926949947051349},
         {1.4, -0.0613845445851162368},
         {0x1.762d86356be3fp+0, -9.24126552172942752e-17},
         {1.4617, 0.0000656593922936764955},
         {1.52, 0.0550221145795516389},
         {1.53, 0.0641673073660771778},
         {7.5, 1.94675748424608679},
         {11.99, 2.44179228366833489},
         {12.01, 2.44353032156246816},
         {10000000000.0, 23.0258509298904568},
         {-0.1, 9.24507305005294804},
         {-1.25, 3.71413912021352783},
         {-10.75, -0.720895760167161174},
         {-100.3, 6.89564312486043503}},
        4);
  check("lgamma",
        {{1e-08, 18.4206807381802089},
         {0.1, 2.2527126517342059},
         {0.9, 0.0663762397347429544},
         {1.4, -0.119612914172371293},
         {7.5, 7.53436423675873296},
         {10000000000.0, 220258509288.810581},
         {-0.1, 2.3689613327287886},
         {-1.25, 1.36643176123697623},
         {-10.75, -15.4030745035048173}},
        8);
}

TEST(ElementwiseValues, ErfinvInvertsErf) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    const double y = std::uniform_real_distribution<>(-2, 2)(random);
    EXPECT_NEAR(call("erfinv", {HostTensor::scalar(DType::f64, std::erf(y))}).get_f64(0), y,
                1e-13 * std::exp(y * y / 2));
  }
}

TEST(ElementwiseValues, AllPairsOfBytes) {
  HostTensor x(DType::i8, {65536}), y(DType::i8, {65536}), ux(DType::u8, {65536}), uy(DType::u8, {65536});
  for (int i = 0; i < 65536; ++i) {
    x.set_i64(i, i & 255);
    y.set_i64(i, i >> 8);
    ux.set_i64(i, i & 255);
    uy.set_i64(i, i >> 8);
  }
  const auto check = [](std::string_view name, const HostTensor& a, const HostTensor& b, auto f) {
    const HostTensor z = call(name, {a, b});
    for (int i = 0; i < 65536; ++i) {
      const int p = static_cast<int>(a.get_i64(i)), q = static_cast<int>(b.get_i64(i));
      const int want = a.dtype() == DType::i8 ? static_cast<std::int8_t>(f(p, q)) : static_cast<std::uint8_t>(f(p, q));
      ASSERT_EQ(z.get_i64(i), want) << name << "(" << p << ", " << q << ")";
    }
  };
  const auto power = [](int p, int q) {
    if (q < 0) return p == 1 ? 1 : p == -1 ? (q & 1 ? -1 : 1) : 0;
    unsigned r = 1;
    while (q--) r *= static_cast<unsigned>(p);
    return static_cast<int>(r);
  };
  for (const auto& [a, b] : {std::pair{x, y}, std::pair{ux, uy}}) {
    check("add", a, b, [](int p, int q) { return p + q; });
    check("sub", a, b, [](int p, int q) { return p - q; });
    check("mul", a, b, [](int p, int q) { return p * q; });
    check("div", a, b, [](int p, int q) { return q == 0 ? -1 : p / q; });
    check("rem", a, b, [](int p, int q) { return q == 0 ? p : p % q; });
    check("pow", a, b, power);
    check("min", a, b, [](int p, int q) { return p < q ? p : q; });
    check("max", a, b, [](int p, int q) { return p < q ? q : p; });
    check("and", a, b, [](int p, int q) { return p & q; });
    check("or", a, b, [](int p, int q) { return p | q; });
    check("xor", a, b, [](int p, int q) { return p ^ q; });
    check("shift_left", a, b, [](int p, int q) { return q < 0 || q > 7 ? 0 : p * (1 << q); });
    check("shift_right_logical", a, b, [](int p, int q) { return q < 0 || q > 7 ? 0 : (p & 255) >> q; });
    check("shift_right_arithmetic", a, b, [signed_type = a.dtype() == DType::i8](int p, int q) {
      const int v = signed_type ? p : static_cast<std::int8_t>(p);
      return v >> (q < 0 || q > 7 ? 7 : q);
    });
  }
}

TEST(ElementwiseValues, FmaRoundsOnce) {
  std::mt19937_64 random(6);
  std::uniform_int_distribution<std::uint32_t> bits;
  constexpr std::int64_t n = 100000;
  HostTensor x(DType::f32, {n}), y = x, z = x;
  for (std::size_t i = 0; i < n; ++i) {
    // Random bits, then a sum near a tie of the product: the cases that two roundings get wrong.
    x.as_mutable<float>()[i] = std::bit_cast<float>(bits(random));
    y.as_mutable<float>()[i] = std::bit_cast<float>(bits(random));
    z.as_mutable<float>()[i] = std::bit_cast<float>(bits(random));
    if (i % 2 == 0) continue;
    x.as_mutable<float>()[i] = static_cast<float>(4097 + bits(random) % 64 * 2);
    y.as_mutable<float>()[i] = static_cast<float>(4097 + bits(random) % 64 * 2);
    z.as_mutable<float>()[i] =
        std::ldexp(static_cast<float>(bits(random) % 7) - 3, static_cast<int>(bits(random) % 100) - 100);
  }
  const HostTensor r = call("fma", {x, y, z});
  for (std::size_t i = 0; i < n; ++i) {
    const float want = std::fma(x.as<float>()[i], y.as<float>()[i], z.as<float>()[i]);
    ASSERT_TRUE(same(r.as<float>()[i], want)) << x.as<float>()[i] << " " << y.as<float>()[i] << " " << z.as<float>()[i];
  }
}

TEST(ElementwiseValues, ReducePrecisionIsAConversion) {
  std::mt19937_64 random(7);
  HostTensor x(DType::f32, {20000});
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.set_f64(i, std::ldexp(std::uniform_real_distribution<>(-2, 2)(random), static_cast<int>(i % 40) - 20));
  for (const auto& [t, exponent, mantissa, least] :
       {std::tuple{DType::f16, 5, 10, 0x1p-14}, {DType::bf16, 8, 7, 0x1p-126}}) {
    const HostTensor y = call("reduce_precision", {x}, ops::ReducePrecisionAttrs{exponent, mantissa});
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const double v = x.get_f64(i), r = round_to(t, v);
      // Between, rounding to a subnormal and flushing after rounding the mantissa may differ.
      if (std::fabs(v) < least && std::fabs(r) >= least) continue;
      ASSERT_EQ(y.get_f64(i), std::fabs(r) < least ? 0 : r) << v;
    }
  }
}

}  // namespace
}  // namespace rlx
