// Every scalar operator on every real dtype, on the oneapi device, against functions of the C++ library in wider
// precision.
#include "oneapi_scalars.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace rlx {
namespace {

using test::comparisons;
using test::ScalarCase;
using test::ScalarRun;
using OneapiScalars = test::OneapiTest;

// --- Floating point --------------------------------------------------------------------------------------------------

double ulp_of(DType t, double v) {
  const int mantissa = t == DType::f16 ? 10 : t == DType::bf16 ? 7 : t == DType::f32 ? 23 : 52;
  const int least = t == DType::f16 ? -14 : t == DType::f64 ? -1022 : -126;
  return std::ldexp(1.0, (v == 0 || !std::isfinite(v) ? least : std::max(std::ilogb(v), least)) - mantissa);
}

long double digamma_slow(long double x) {
  if (x <= 0 && x == std::floor(x)) return x == 0 ? std::copysign(INFINITY, -static_cast<double>(x)) : NAN;
  if (x < 0) return digamma_slow(1 - x) - M_PIl / std::tan(M_PIl * x);
  long double r = 0;
  for (; x < 40; x += 1) r -= 1 / x;
  const long double z = 1 / (x * x);
  return r + std::log(x) - 1 / (2 * x) - z * (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z / 240)));
}
long double erfinv_slow(long double x) {
  if (std::isnan(x) || x == 0) return x;
  if (std::fabs(x) >= 1) return std::fabs(x) == 1 ? x * INFINITY : NAN;
  long double low = 0, high = 8;
  for (int k = 0; k < 200; ++k) {
    const long double y = (low + high) / 2;
    (std::fabs(x) < 0.5L ? std::erf(y) < std::fabs(x) : std::erfc(y) > 1 - std::fabs(x)) ? low = y : high = y;
  }
  return std::copysign(high, x);
}
long double reference(const ScalarCase& c, long double x, long double y, long double z) {
  const std::string& f = c.op;
  const bool nan2 = std::isnan(x) || std::isnan(y);
  const auto low = [](long double a, long double b) {
    return std::isnan(a) || std::isnan(b) ? NAN : a < b ? a : b < a ? b : std::signbit(a) ? a : b;
  };
  const auto high = [](long double a, long double b) {
    return std::isnan(a) || std::isnan(b) ? NAN : a > b ? a : b > a ? b : std::signbit(a) ? b : a;
  };
  if (f == "neg") return -x;
  if (f == "abs") return std::fabs(x);
  if (f == "sign") return std::isnan(x) || x == 0 ? x : x > 0 ? 1 : -1;
  if (f == "exp") return std::exp(x);
  if (f == "log") return std::log(x);
  if (f == "expm1") return std::expm1(x);
  if (f == "log1p") return std::log1p(x);
  if (f == "sqrt") return std::sqrt(x);
  if (f == "rsqrt") return 1 / std::sqrt(x);
  if (f == "cbrt") return std::cbrt(x);
  if (f == "sin") return std::sin(x);
  if (f == "cos") return std::cos(x);
  if (f == "tan") return std::tan(x);
  if (f == "asin") return std::asin(x);
  if (f == "acos") return std::acos(x);
  if (f == "atan") return std::atan(x);
  if (f == "sinh") return std::sinh(x);
  if (f == "cosh") return std::cosh(x);
  if (f == "tanh") return std::tanh(x);
  if (f == "erf") return std::erf(x);
  if (f == "erfc") return std::erfc(x);
  if (f == "erfinv") return erfinv_slow(x);
  if (f == "lgamma") return std::lgamma(x);
  if (f == "digamma") return digamma_slow(x);
  if (f == "floor") return std::floor(x);
  if (f == "ceil") return std::ceil(x);
  if (f == "round") return std::nearbyint(x);
  if (f == "add") return x + y;
  if (f == "sub") return x - y;
  if (f == "mul") return x * y;
  if (f == "div") return x / y;
  if (f == "rem") return std::fmod(x, y);
  if (f == "pow") return std::pow(x, y);
  if (f == "atan2") return std::atan2(x, y);
  if (f == "min") return nan2 ? NAN : low(x, y);
  if (f == "max") return nan2 ? NAN : high(x, y);
  if (f == "fma") return x * y + z;
  if (f == "select") return x < y ? y : z;
  if (f == "clamp") return low(high(y, x), z);
  if (f == "is_nan") return std::isnan(x);
  if (f == "is_finite") return std::isfinite(x);
  if (f == "compare") {
    switch (c.attrs.as<ops::CompareAttrs>().direction) {
      case ops::Direction::eq:
        return x == y;
      case ops::Direction::ne:
        return x != y;
      case ops::Direction::lt:
        return x < y;
      case ops::Direction::le:
        return x <= y;
      case ops::Direction::gt:
        return x > y;
      case ops::Direction::ge:
        return x >= y;
    }
  }
  ADD_FAILURE() << "no reference for " << f;
  return NAN;
}

TEST_F(OneapiScalars, FloatOperators) {
  std::vector<ScalarCase> cases, predicates = comparisons;
  const std::vector<std::string> exact = {"neg", "abs", "sign", "sqrt", "floor", "ceil", "round",  "add",
                                          "sub", "mul", "div",  "rem",  "min",   "max",  "select", "clamp"};
  for (const char* op : {"neg",  "abs", "sign", "exp",    "log",    "expm1",   "log1p", "sqrt", "rsqrt",
                         "cbrt", "sin", "cos",  "tan",    "asin",   "acos",    "atan",  "sinh", "cosh",
                         "tanh", "erf", "erfc", "erfinv", "lgamma", "digamma", "floor", "ceil", "round"})
    cases.push_back({op});
  for (const char* op : {"add", "sub", "mul", "div", "rem", "pow", "atan2", "min", "max"}) cases.push_back({op, 2});
  for (const char* op : {"fma", "select", "clamp"}) cases.push_back({op, 3});
  predicates.push_back({"is_nan"});
  predicates.push_back({"is_finite"});
  for (DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    std::mt19937 random(7);
    const double special[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, INFINITY, -INFINITY, NAN, 1e-8, -3, 7, 0.99};
    constexpr std::int64_t n = 600;
    ScalarRun r;
    for (int k = 0; k < 3; ++k) r.operands.push_back(HostTensor(t, {n}));
    for (std::int64_t i = 0; i < n; ++i) {
      r.operands[0].set_f64(
          i, i < 256 ? special[i / 16]
                     : std::uniform_real_distribution<double>(i % 3 ? -1.1 : -9, i % 3 ? 1.1 : 9)(random));
      r.operands[1].set_f64(i, i < 256 ? special[i % 16] : std::uniform_real_distribution<double>(-4, 4)(random));
      r.operands[2].set_f64(i, i < 256 ? special[i % 7] : std::uniform_real_distribution<double>(-4, 4)(random));
    }
    const Graph g = r.graph(cases, predicates, t);
    run(g, r.buffers());
    r.take();
    const auto operand = [&](int k, std::int64_t i) { return static_cast<long double>(r.operands[k].get_f64(i)); };
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const bool is_exact = std::find(exact.begin(), exact.end(), cases[k].op) != exact.end();
      int shown = 0;
      for (std::int64_t i = 0; i < n && shown < 3; ++i) {
        const long double wide = reference(cases[k], operand(0, i), operand(1, i), operand(2, i));
        const double got = r.values.get_f64(static_cast<std::int64_t>(k) * n + i);
        const double want = t == DType::f64 ? static_cast<double>(wide) : round_to(t, static_cast<double>(wide));
        // About the negative zeros of lgamma and digamma only absolute accuracy is asked for.
        const double floor = cases[k].op == "lgamma" ? 1 : cases[k].op == "digamma" ? 4 : 0;
        const double allowed = is_exact ? 0 : 4 * std::max(ulp_of(t, want), ulp_of(t, floor) * (floor > 0));
        const bool same = std::isnan(want) ? std::isnan(got)
                          : got == want    ? std::signbit(got) == std::signbit(want) || !is_exact
                                           : std::fabs(got - want) <= allowed;
        if (same) continue;
        ++shown;
        ADD_FAILURE() << name(t) << " " << cases[k].op << "(" << static_cast<double>(operand(0, i)) << ", "
                      << static_cast<double>(operand(1, i)) << ", " << static_cast<double>(operand(2, i))
                      << ") = " << got << ", not " << want << " (" << std::fabs(got - want) / ulp_of(t, want)
                      << " ulp)";
      }
    }
    for (std::size_t k = 0; k < predicates.size(); ++k)
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_EQ(r.predicates.get_i64(static_cast<std::int64_t>(k) * n + i) != 0,
                  reference(predicates[k], operand(0, i), operand(1, i), 0) != 0)
            << name(t) << " " << predicates[k].label() << " " << i;
  }
}

// --- Integers --------------------------------------------------------------------------------------------------------

using Wide = __int128;
Wide integer_reference(const ScalarCase& c, DType t, Wide x, Wide y, Wide z) {
  const int width = bit_width(t);
  const Wide modulus = Wide{1} << width, bits = x & (modulus - 1);
  const bool sign = is_signed_integer(t);
  const bool shifted_out = y < 0 || y >= width;
  const std::string& f = c.op;
  if (f == "neg") return -x;
  if (f == "abs") return x < 0 ? -x : x;
  if (f == "sign") return (x > 0) - (x < 0);
  if (f == "not") return ~x;
  if (f == "popcount") return std::popcount(static_cast<std::uint64_t>(bits));
  if (f == "clz") return std::countl_zero(static_cast<std::uint64_t>(bits)) - (64 - width);
  if (f == "add") return x + y;
  if (f == "sub") return x - y;
  if (f == "mul") return static_cast<Wide>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
  if (f == "div") return y == 0 ? -1 : x / y;
  if (f == "rem") return y == 0 ? x : x % y;
  if (f == "min") return std::min(x, y);
  if (f == "max") return std::max(x, y);
  if (f == "and") return x & y;
  if (f == "or") return x | y;
  if (f == "xor") return x ^ y;
  if (f == "shift_left")
    return shifted_out ? 0 : static_cast<Wide>(static_cast<unsigned __int128>(bits) << static_cast<int>(y));
  if (f == "shift_right_logical") return shifted_out ? 0 : bits >> static_cast<int>(y);
  if (f == "shift_right_arithmetic") {
    const Wide as_signed = sign || !(bits >> (width - 1)) ? x : x - modulus;
    return as_signed >> (shifted_out ? width - 1 : static_cast<int>(y));
  }
  if (f == "pow") {
    if (y < 0) return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
    unsigned __int128 power = 1, base = static_cast<unsigned __int128>(x);
    for (Wide n = y; n > 0; n >>= 1, base *= base)
      if (n & 1) power *= base;
    return static_cast<Wide>(power);
  }
  if (f == "fma") {
    using Unsigned = unsigned __int128;
    return static_cast<Wide>(static_cast<Unsigned>(x) * static_cast<Unsigned>(y) + static_cast<Unsigned>(z));
  }
  if (f == "select") return x < y ? y : z;
  if (f == "clamp") return std::min(std::max(y, x), z);
  return static_cast<Wide>(reference(c, static_cast<long double>(x), static_cast<long double>(y), 0));
}

TEST_F(OneapiScalars, IntegerOperators) {
  std::vector<ScalarCase> cases;
  for (const char* op : {"neg", "abs", "sign", "not", "popcount", "clz"}) cases.push_back({op});
  for (const char* op : {"add", "sub", "mul", "div", "rem", "min", "max", "and", "or", "xor", "shift_left",
                         "shift_right_logical", "shift_right_arithmetic", "pow"})
    cases.push_back({op, 2});
  for (const char* op : {"fma", "select", "clamp"}) cases.push_back({op, 3});
  for (DType t : {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64}) {
    const int width = bit_width(t);
    const bool sign = is_signed_integer(t);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - width), half = std::uint64_t{1} << (width - 1);
    const std::vector<std::uint64_t> special = {0,
                                                1,
                                                2,
                                                3,
                                                all,
                                                all - 1,
                                                half,
                                                half - 1,
                                                half + 1,
                                                static_cast<std::uint64_t>(width),
                                                static_cast<std::uint64_t>(width - 1),
                                                7,
                                                100,
                                                0x5a5a5a5a5a5a5a5a & all};
    const auto count = static_cast<std::int64_t>(special.size());
    ScalarRun r;
    for (int k = 0; k < 3; ++k) r.operands.push_back(HostTensor(t, {count * count}));
    for (std::int64_t i = 0; i < count * count; ++i) {
      r.operands[0].set_u64(i, special[static_cast<std::size_t>(i / count)]);
      r.operands[1].set_u64(i, special[static_cast<std::size_t>(i % count)]);
      r.operands[2].set_u64(i, special[static_cast<std::size_t>((i * 5) % count)]);
    }
    const Graph g = r.graph(cases, comparisons, t);
    run(g, r.buffers());
    r.take();
    const auto at = [&](const HostTensor& x, std::int64_t i) { return sign ? Wide{x.get_i64(i)} : Wide{x.get_u64(i)}; };
    const auto wrapped = [&](Wide v) {
      const Wide bits = v & ((Wide{1} << width) - 1);
      return sign && (bits >> (width - 1)) ? bits - (Wide{1} << width) : bits;
    };
    for (std::int64_t i = 0; i < r.points(); ++i) {
      const Wide x = at(r.operands[0], i), y = at(r.operands[1], i), z = at(r.operands[2], i);
      for (std::size_t k = 0; k < cases.size(); ++k)
        ASSERT_EQ(static_cast<std::int64_t>(at(r.values, static_cast<std::int64_t>(k) * r.points() + i)),
                  static_cast<std::int64_t>(wrapped(integer_reference(cases[k], t, x, y, z))))
            << name(t) << " " << cases[k].op << " " << static_cast<std::int64_t>(x) << " "
            << static_cast<std::int64_t>(y) << " " << static_cast<std::int64_t>(z);
      for (std::size_t k = 0; k < comparisons.size(); ++k)
        ASSERT_EQ(r.predicates.get_i64(static_cast<std::int64_t>(k) * r.points() + i) != 0,
                  reference(comparisons[k], static_cast<long double>(x), static_cast<long double>(y), 0) != 0)
            << name(t) << " " << comparisons[k].label();
    }
  }
}

TEST_F(OneapiScalars, BooleanOperators) {
  ScalarRun r;
  r.operands = {HostTensor::from(DType::boolean, {4}, std::vector<double>{0, 0, 1, 1}),
                HostTensor::from(DType::boolean, {4}, std::vector<double>{0, 1, 0, 1})};
  const std::vector<ScalarCase> cases = {{"and", 2},
                                         {"or", 2},
                                         {"xor", 2},
                                         {"min", 2},
                                         {"max", 2},
                                         {"not"},
                                         {"compare", 2, ops::CompareAttrs{ops::Direction::lt}}};
  const Graph g = r.graph(cases, {}, DType::boolean);
  run(g, r.buffers());
  r.take();
  const int want[7][4] = {{0, 0, 0, 1}, {0, 1, 1, 1}, {0, 1, 1, 0}, {0, 0, 0, 1},
                          {0, 1, 1, 1}, {1, 1, 0, 0}, {0, 1, 0, 0}};
  for (int k = 0; k < 7; ++k)
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(r.values.get_i64(4 * k + i), want[k][i]) << cases[static_cast<std::size_t>(k)].op << i;
}

}  // namespace
}  // namespace rlx
